// Faults that were there before: a report compared with an older one.
#pragma once

#include <string>
#include <vector>

#include "reports/model/report.h"

namespace capgate::reports {

struct BaselineComparison : Compared {
  // Faults of the baseline that the report no longer has: the baseline should be made anew.
  std::vector<const Violation*> stale;
};

// Makes of a report what `gate --baseline` judges: each violation is marked `new` or `known`, as pairs.h has
// it, and a symptom of a known cause as `known`; what is new stands first; only a new error makes the verdict
// a fail. `file`: the baseline's, as the user named it. `stale` points into `baseline`.
BaselineComparison compare_with_baseline(Report& report, const Report& baseline,
                                         const std::string& file = "");

// What decides under a baseline: fail for a new error, else inconclusive for a reason, else pass.
Verdict verdict_with_baseline(const Report& report, const Compared& comparison);

}  // namespace capgate::reports
