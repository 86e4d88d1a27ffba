// How merge pairs violations.
#pragma once

#include <vector>

#include "reports/model/report.h"

namespace capgate::reports {

// Adds one report's violations to those of others. Two violations of the same report are never put together.
void merge_violations(std::vector<Violation>& into, std::vector<Violation> from);

}  // namespace capgate::reports
