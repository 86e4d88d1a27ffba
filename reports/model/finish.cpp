#include <algorithm>
#include <tuple>

#include "reports/catalogue/catalogue.h"
#include "reports/model/claims.h"
#include "reports/catalogue/situations.h"
#include "reports/model/fingerprint.h"
#include "reports/model/report.h"
#include "reports/model/verdict.h"

namespace capgate::reports {
namespace {

// Merging, and a newer table, may put a violation into another situation than a report was written with.
void fill_situations(Report& report) {
  for (auto& violation : report.violations) {
    const Situation& situation = situation_of(violation);
    violation.hint = std::string(fix_given(situation, violation));
    violation.situation = situation.id;
  }
}

// The order in which somebody should read them: what counts first, then what killed a capture (all that
// follows in that capture is its consequence), then by rule and place.
void sort_violations(Report& report) {
  const auto rank = [](const Violation& v) {
    const bool killed = v.phase == Phase::capture && was_refused(v);
    return std::tuple(v.suppressed.has_value(), v.severity, !killed, rule_order(v.rule),
                      std::string_view(v.location.file), v.location.line, v.location.column.value_or(0),
                      std::string_view(v.id));
  };
  std::stable_sort(report.violations.begin(), report.violations.end(),
                   [&](const Violation& a, const Violation& b) { return rank(a) < rank(b); });
}

void add_reasons(Report& report) {
  const auto add = [&](const Reason& reason) {
    if (std::find(report.reasons.begin(), report.reasons.end(), reason) == report.reasons.end())
      report.reasons.push_back(reason);
  };
  if (report.run)
    if (const auto reason = program_error(*report.run)) add(*reason);
  if (report.reasons.empty())
    if (const auto reason = missing_proof(report)) add(*reason);
}

// What is particular to the report first: it is what a reader does not know.
void list_what_was_not_checked(Report& report) {
  std::vector<std::string> gaps = particular_gaps(report);
  for (std::string& gap : never_looked_at(report)) gaps.push_back(std::move(gap));
  report.coverage.not_checked = std::move(gaps);
}

}  // namespace

void finish(Report& report) {
  fill_situations(report);
  fill_ids(report);
  sort_violations(report);
  report.summary = summary_of(report);
  add_reasons(report);
  list_what_was_not_checked(report);
  report.verdict = verdict_of(report);
}

}  // namespace capgate::reports
