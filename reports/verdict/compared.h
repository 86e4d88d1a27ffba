// What a run shows of graphs beside eager steps, and what it leaves to a verification.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/model/report.h"

namespace capgate::reports {

// "1 graph with 3 eager steps, 12 of 12 nodes; 4 of 20 host values never varied"; empty for a run without a
// comparison.
std::string what_was_compared(const Report& report);

// Whether each graph that was launched was held against three eager steps, or verified.
bool all_is_compared(const Report& report);

// There is a graph, and not all are compared.
bool lacks_comparison(const Report& report);

// Why not, for the graphs of these buckets; for all that were launched, where no bucket is named.
std::optional<Reason> missing_comparison(const Report& report, const std::vector<std::string>& buckets);

// A value that may be stale, work that may be missing: no error is proven, and nothing shows that there is
// none. One reason for each graph.
std::vector<Reason> unanswered_differences(const Report& report);

}  // namespace capgate::reports
