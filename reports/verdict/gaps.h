// What a report did not look at.
#pragma once

#include <string>
#include <vector>

#include "reports/model/report.h"

namespace capgate::reports {

// What no run or lint of this kind looks at: short entries in fixed words, which finish() puts into
// coverage.not_checked beside what is particular to the run. They follow from the rest of the report.
std::vector<std::string> never_looked_at(const Report& report);

// The entries of coverage.not_checked that are particular to this report.
std::vector<std::string> particular_gaps(const Report& report);

}  // namespace capgate::reports
