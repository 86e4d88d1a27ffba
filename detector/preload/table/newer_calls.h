#pragma once

namespace capgate::preload {

struct ThreadState;

// A CUPTI newer than the table of calls knows calls that the table does not. Those of a family that is
// watched are watched by their name; the others are counted under "unknown-cbid".
void adopt_newer_calls(ThreadState& thread);

}  // namespace capgate::preload
