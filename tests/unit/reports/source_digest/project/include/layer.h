// The header that the test edits.
#pragma once
int layer();
