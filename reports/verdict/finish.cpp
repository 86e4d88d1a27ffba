#include "reports/verdict/finish.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <tuple>

#include "reports/catalogue/catalogue.h"
#include "reports/catalogue/situations.h"
#include "reports/identity/fingerprint.h"
#include "reports/model/cuda_answer.h"
#include "reports/verdict/causes.h"
#include "reports/verdict/failure.h"
#include "reports/verdict/gaps.h"
#include "reports/verdict/reasons.h"
#include "reports/verdict/verdict.h"

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

void link_symptoms(Report& report) {
  std::vector<std::string> names;
  names.reserve(report.violations.size());
  for (const auto& violation : report.violations) names.push_back(violation.id);
  fill_ids(report);
  settle_symptoms(report.violations, names);
  join_whole_functions(report.violations);
  names.clear();
  for (const auto& violation : report.violations) names.push_back(violation.id);
  settle_symptoms(report.violations, names);
}

// The order in which somebody should read them: what counts first, then what killed a capture, then what
// costs most in a step, then by rule and place. A symptom stands behind its cause.
void sort_violations(Report& report) {
  auto& all = report.violations;
  const Causes causes(report);
  const std::vector<int> kinds = failure_ranks(report);
  struct Key {
    std::tuple<bool, Severity, int, bool, double, double, int> weight;
    std::tuple<std::string_view, int, int, std::string_view> place;
    auto operator<=>(const Key&) const = default;
  };
  std::vector<Key> keys;
  keys.reserve(all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    const Violation& v = all[i];
    const int kind = v.severity == Severity::error ? kinds[i] : 0;
    keys.push_back({{v.suppressed.has_value(), v.severity, kind, !killed_a_capture(v),
                     -causes.weight_per_step(v), v.per_step ? -v.per_step->count : 0, rule_order(v.rule)},
                    {v.location.file, v.location.line, v.location.column.value_or(0), v.id}});
  }
  const auto index = [&](const Violation* v) { return static_cast<size_t>(v - all.data()); };
  std::vector<size_t> group(all.size());  // of each its cause, or itself
  for (size_t i = 0; i < all.size(); ++i) {
    const Violation* cause = causes.cause_of(all[i]);
    group[i] = cause ? index(cause) : i;
  }
  std::vector<size_t> order(all.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (group[a] != group[b])
      return std::pair(keys[group[a]], group[a]) < std::pair(keys[group[b]], group[b]);
    return std::tuple(a != group[a], keys[a].weight, keys[a].place) <
           std::tuple(b != group[b], keys[b].weight, keys[b].place);
  });
  std::vector<Violation> sorted;
  sorted.reserve(all.size());
  for (const size_t i : order) sorted.push_back(std::move(all[i]));
  all = std::move(sorted);
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
  link_symptoms(report);
  sort_violations(report);
  report.summary = summary_of(report);
  add_missing_reasons(report);
  list_what_was_not_checked(report);
  report.verdict = verdict_of(report);
}

}  // namespace capgate::reports
