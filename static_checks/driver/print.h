// A lint report for a terminal and for editors: gcc's form, so that what jumps to a compiler's message jumps
// here too.
#pragma once

#include <string>

#include "reports/model/report.h"

namespace capgate::lint {

// "file:line:column: error: message [rule]", the line itself, and each step of the flow as a note at its own
// place; then why the run proves nothing, if so, and one line that sums up.
std::string printed(const reports::Report& report, bool color);

}  // namespace capgate::lint
