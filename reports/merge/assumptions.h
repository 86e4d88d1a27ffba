// What a run says of the assumptions that a lint was given.
#pragma once

#include <vector>

#include "reports/model/report.h"

namespace capgate::reports {

// A finding that an assumption made a note of, and that a run has seen in a capture or a step: the assumption
// does not hold. The finding is an error then, and whatever else the assumption ruled out is judged as
// without it.
void check_assumptions(std::vector<Violation>& violations);

}  // namespace capgate::reports
