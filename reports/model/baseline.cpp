#include "reports/model/baseline.h"

#include <set>
#include <string_view>

namespace capgate::reports {

BaselineComparison compare_with_baseline(Report& report, const Report& baseline) {
  BaselineComparison comparison;
  std::set<std::string_view> known, present;
  for (const auto& violation : baseline.violations) known.insert(violation.id);
  for (auto& violation : report.violations) {
    present.insert(violation.id);
    const bool is_known = known.contains(violation.id);
    violation.baseline = is_known ? "known" : "new";
    if (violation.suppressed || violation.severity == Severity::note) continue;
    const bool error = violation.severity == Severity::error;
    if (is_known)
      ++(error ? comparison.known_errors : comparison.known_warnings);
    else
      ++(error ? comparison.new_errors : comparison.new_warnings);
  }
  for (const auto& violation : baseline.violations)
    if (violation.severity != Severity::note && !present.contains(violation.id))
      comparison.stale.push_back(&violation);
  return comparison;
}

Verdict verdict_with_baseline(const Report& report, const BaselineComparison& comparison) {
  if (comparison.new_errors > 0) return Verdict::fail;
  return report.reasons.empty() ? Verdict::pass : Verdict::inconclusive;
}

}  // namespace capgate::reports
