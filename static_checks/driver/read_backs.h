// Findings that one read-back gives: the copy, the wait, and what the host does with the value.
#pragma once

#include <vector>

#include "reports/model/report.h"
#include "static_checks/model/finding.h"

namespace capgate::lint {

// Names the line that brings a device value to the host as the cause of what follows from it. `violations`
// were made of `findings`, one of each.
void link_read_backs(const std::vector<const Finding*>& findings,
                     std::vector<reports::Violation>& violations);

}  // namespace capgate::lint
