// How merge pairs violations.
#pragma once

#include <cstddef>
#include <vector>

#include "reports/model/report.h"

namespace capgate::reports {

// Adds the violations of report `number` to those of others. Two violations of the same report are never put
// together. Ids are names only until finish() gives them anew.
void merge_violations(std::vector<Violation>& into, std::vector<Violation> from, size_t number);

}  // namespace capgate::reports
