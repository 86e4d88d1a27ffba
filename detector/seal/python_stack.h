// Python frames as the interpreter's own traceback dumper writes them.
#pragma once

#include <string_view>
#include <vector>

#include "reports/model/report.h"

namespace capgate::seal {

// Lines of the form `  File "path", line 12 in function`, innermost first; whatever else stands there is
// passed over.
std::vector<reports::Frame> parse_python_stack(std::string_view text);

}  // namespace capgate::seal
