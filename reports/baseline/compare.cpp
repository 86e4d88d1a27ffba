#include "reports/baseline/compare.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "reports/verdict/causes.h"

namespace capgate::reports {

BaselineComparison compare_with_baseline(Report& report, const Report& baseline) {
  BaselineComparison comparison;
  // What the baseline allowed, or only noted, was no fault there: as one, it is new.
  std::map<std::string_view, Severity> known;
  std::set<std::string_view> present;
  for (const auto& violation : baseline.violations) {
    if (violation.suppressed) continue;
    const auto [at, fresh] = known.try_emplace(violation.id, violation.severity);
    if (!fresh) at->second = std::min(at->second, violation.severity);
  }
  for (auto& violation : report.violations) {
    present.insert(violation.id);
    const auto before = known.find(violation.id);
    const bool is_known = before != known.end() && before->second <= violation.severity;
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
