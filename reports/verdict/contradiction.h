// Reports whose parts do not agree.
#pragma once

#include <optional>
#include <string>

#include "reports/model/report.h"

namespace capgate::reports {

// What of a report that was written says otherwise than the rest of it: its verdict or its summary. Somebody
// edited it, or lost a part.
std::optional<std::string> contradiction(const Report& report);

}  // namespace capgate::reports
