// Which script a process's interpreter was started with.
#pragma once

#include <string>

#include "detector/trace/process_trace.h"

namespace capgate::trace {

// "serve.py" of `python3 -u serve.py --port 1`, or the module of -m; empty for -c, for standard input and for
// a process that ran no Python.
std::string python_script(const ProcessTrace& process);

}  // namespace capgate::trace
