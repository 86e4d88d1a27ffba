// What the verifications of a run prove, and what a gate that demands them misses.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/model/report.h"

namespace capgate::reports {

// "2 graphs gave the eager results for 3 input sets over 4 steps each, again after free memory was filled; 1
// graph is not verified"; empty for a run without a verification.
std::string what_was_verified(const Report& report);

// Whether a verification counts for every executable graph that was launched.
bool all_is_verified(const Report& report);

// Why the report does not show that the graphs of these buckets give the eager results; of all graphs that
// were launched, where no bucket is named. Nothing where it does.
std::optional<Reason> missing_verification(const Report& report, const std::vector<std::string>& buckets);

}  // namespace capgate::reports
