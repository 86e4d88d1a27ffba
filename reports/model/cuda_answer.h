// What CUDA answered the call of a violation.
#pragma once

#include "reports/model/report.h"

namespace capgate::reports {

// CUDA answered the call with an error.
bool was_refused(const Violation& violation);

// A capture died of it.
bool killed_a_capture(const Violation& violation);

}  // namespace capgate::reports
