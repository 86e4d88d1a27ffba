// Which fault of an older list each fault of a newer one is.
#pragma once

#include <optional>
#include <vector>

#include "reports/model/report.h"

namespace capgate::reports {

// Of each fault of `now` its place in `before`. The id decides. What is left over is paired where rule, file,
// function and call are the same: somebody edited the line. Of `now` that is errors and warnings that are not
// allowed; of `before`, what was allowed comes last. Each is paired once, so that a call more is new.
std::vector<std::optional<size_t>> pair_faults(const std::vector<Violation>& now,
                                               const std::vector<Violation>& before);

}  // namespace capgate::reports
