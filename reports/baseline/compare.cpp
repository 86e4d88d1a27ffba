#include "reports/baseline/compare.h"

#include <set>
#include <string_view>

#include "reports/baseline/pairs.h"
#include "reports/verdict/causes.h"

namespace capgate::reports {

BaselineComparison compare_with_baseline(Report& report, const Report& baseline) {
  BaselineComparison comparison;
  const auto pairs = pair_faults(report.violations, baseline.violations);
  std::set<std::string_view> present;  // ids of the baseline
  for (size_t i = 0; i < pairs.size(); ++i) {
    Violation& violation = report.violations[i];
    const Violation* before = pairs[i] ? &baseline.violations[*pairs[i]] : nullptr;
    if (before) present.insert(before->id);
    // What the baseline allowed, or only noted, was no fault there: as one, it is new.
    const bool is_known = before && !before->suppressed && before->severity <= violation.severity;
    violation.baseline = is_known ? BaselineState::known : BaselineState::new_since;
  }
  // A symptom counts with its cause, unless one of them is new and the other is not.
  const Causes causes(report);
  for (const auto& violation : report.violations) {
    if (violation.suppressed || violation.severity == Severity::note) continue;
    if (const Violation* cause = causes.cause_of(violation); cause && cause->baseline == violation.baseline)
      continue;
    const bool error = violation.severity == Severity::error;
    if (violation.baseline == BaselineState::known)
      ++(error ? comparison.known_errors : comparison.known_warnings);
    else
      ++(error ? comparison.new_errors : comparison.new_warnings);
  }
  const auto gone = [&](const Violation& violation) {
    return violation.severity != Severity::note && !present.contains(violation.id);
  };
  const Causes before(baseline);
  for (const auto& violation : baseline.violations) {
    const Violation* cause = before.cause_of(violation);
    if (gone(violation) && !(cause && gone(*cause))) comparison.stale.push_back(&violation);
  }
  return comparison;
}

Verdict verdict_with_baseline(const Report& report, const BaselineComparison& comparison) {
  if (comparison.new_errors > 0) return Verdict::fail;
  return report.reasons.empty() ? Verdict::pass : Verdict::inconclusive;
}

}  // namespace capgate::reports
