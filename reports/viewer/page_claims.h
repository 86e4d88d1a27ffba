// What the page's first screen says of the verdict.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "reports/model/report.h"

namespace capgate::reports {

nlohmann::ordered_json page_claims(const Report& report);

}  // namespace capgate::reports
