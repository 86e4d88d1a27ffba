// Which ranks of a distributed run have a fault.
#pragma once

#include <string>
#include <vector>

#include "reports/model/report.h"

namespace capgate::cli {

// "8 of 8 ranks", "rank 3 of 8", "ranks 0, 2 of 8". Empty where fewer than two ranks are known, or where two
// machines have processes of the same number, so that a fault's processes do not tell its ranks.
std::string ranks_of(const reports::Violation& violation, const std::vector<reports::ProcessCoverage>& all);

}  // namespace capgate::cli
