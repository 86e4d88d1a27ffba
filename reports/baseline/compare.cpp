#include "reports/baseline/compare.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string_view>

#include "reports/baseline/pairs.h"
#include "reports/verdict/causes.h"
#include "reports/verdict/verdict.h"

namespace capgate::reports {
namespace {

// The ids of the baseline's faults that the report has.
std::set<std::string_view> mark(Report& report, const Report& baseline) {
  std::set<std::string_view> present;
  const auto pairs = pair_faults(report.violations, baseline.violations);
  for (size_t i = 0; i < pairs.size(); ++i) {
    Violation& violation = report.violations[i];
    const Violation* before = pairs[i] ? &baseline.violations[*pairs[i]] : nullptr;
    if (before) present.insert(before->id);
    // What the baseline allowed, or only noted, was no fault there: as one, it is new.
    const bool is_known = before && !before->suppressed && before->severity <= violation.severity;
    violation.baseline = is_known ? BaselineState::known : BaselineState::new_since;
  }
  // A symptom goes away with its cause: who accepts the cause accepts it.
  const Causes causes(report);
  for (Violation& violation : report.violations)
    if (const Violation* cause = causes.cause_of(violation); cause && cause->baseline == BaselineState::known)
      violation.baseline = BaselineState::known;
  return present;
}

bool is_open(const Violation& violation) {
  return !violation.suppressed && violation.severity != Severity::note;
}

void count(const Report& report, Compared& into) {
  const Causes causes(report);
  for (const auto& violation : report.violations) {
    if (!is_open(violation) || causes.cause_of(violation)) continue;
    const bool error = violation.severity == Severity::error;
    if (report.knows(violation))
      ++(error ? into.known_errors : into.known_warnings);
    else
      ++(error ? into.new_errors : into.new_warnings);
  }
}

// Each symptom stays behind its cause.
void put_new_first(Report& report) {
  const Causes causes(report);
  std::vector<int> rank;
  rank.reserve(report.violations.size());
  for (const auto& violation : report.violations) {
    const Violation* cause = causes.cause_of(violation);
    const Violation& head = cause ? *cause : violation;
    rank.push_back(!is_open(head) ? 2 : report.knows(head) ? 1 : 0);
  }
  std::vector<size_t> order(rank.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return rank[a] < rank[b]; });
  std::vector<Violation> sorted;
  sorted.reserve(order.size());
  for (const size_t i : order) sorted.push_back(std::move(report.violations[i]));
  report.violations = std::move(sorted);
}

}  // namespace

BaselineComparison compare_with_baseline(Report& report, const Report& baseline, const std::string& file) {
  BaselineComparison comparison;
  comparison.file = file;
  const auto present = mark(report, baseline);
  const auto gone = [&](const Violation& violation) {
    return violation.severity != Severity::note && !present.contains(violation.id);
  };
  const Causes before(baseline);
  for (const auto& violation : baseline.violations) {
    const Violation* cause = before.cause_of(violation);
    if (gone(violation) && !(cause && gone(*cause))) comparison.stale.push_back(&violation);
  }
  comparison.fixed = comparison.stale.size();
  report.compared.emplace();  // from here on its violations are new or known
  count(report, comparison);
  report.compared = static_cast<const Compared&>(comparison);
  put_new_first(report);
  report.summary = summary_of(report);
  report.verdict = verdict_with_baseline(report, comparison);
  return comparison;
}

Verdict verdict_with_baseline(const Report& report, const Compared& comparison) {
  if (comparison.new_errors > 0) return Verdict::fail;
  return report.reasons.empty() ? Verdict::pass : Verdict::inconclusive;
}

}  // namespace capgate::reports
