// What a condition of the situation table may ask of a violation.
#pragma once

#include "reports/catalogue/situations.h"

namespace capgate::reports {

bool holds(const Condition& condition, const Violation& violation);

}  // namespace capgate::reports
