// Faults that were there before: a report compared with an older one.
#pragma once

#include <string>
#include <vector>

#include "reports/model/report.h"

namespace capgate::reports {

// Causes are counted; a symptom only where its cause is not as new, or as old, as itself.
struct BaselineComparison {
  uint64_t new_errors = 0, known_errors = 0, new_warnings = 0, known_warnings = 0;
  // Faults of the baseline that the report no longer has: the baseline should be made anew.
  std::vector<const Violation*> stale;
};

// Marks every violation `new` or `known`, as pairs.h has it. `stale` points into `baseline`.
BaselineComparison compare_with_baseline(Report& report, const Report& baseline);

// What decides under a baseline: fail for a new error, else inconclusive for a reason, else pass.
Verdict verdict_with_baseline(const Report& report, const BaselineComparison& comparison);

}  // namespace capgate::reports
