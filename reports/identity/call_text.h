// A fault's call as its source line writes it.
#pragma once

#include <string>

#include "reports/model/report.h"

namespace capgate::reports {

// `cudaMemcpy(host,x+1,n,kind)`: the call of what the fault is about, without blanks, comments, template
// arguments of the callee and macros around it; over more lines where its parentheses are open. Of a launch
// the kernel's name. The line as a whole where it is neither; empty where the report does not quote the line.
std::string call_text(const Violation& violation);

}  // namespace capgate::reports
