#include "reports/verdict/contradiction.h"

#include <fmt/format.h>

#include <set>
#include <string_view>

#include "base/counted.h"
#include "reports/model/names.h"
#include "reports/verdict/verdict.h"

namespace capgate::reports {
namespace {

std::string ends_of(std::string_view name) {
  return std::string(name.substr(0, 60));
}

// What is wrong with one violation, or with one of them beside another.
std::optional<std::string> impossible(const std::vector<Violation>& violations) {
  std::set<std::string_view> ids;
  for (const Violation& violation : violations) {
    if (!violation.id.empty() && !ids.insert(violation.id).second)
      return fmt::format("two of its violations have the id \"{}\"", ends_of(violation.id));
    if (violation.per_step && violation.per_step->steps == 0)
      return fmt::format("violation \"{}\" costs something per step, of 0 steps", ends_of(violation.id));
  }
  return std::nullopt;
}

// The rule whose count is not what the violations come to.
std::optional<std::string> miscounted(const Summary& said, const Summary& holds) {
  std::set<std::string> rules;
  for (const auto* of : {&said.by_rule, &holds.by_rule})
    for (const auto& [rule, count] : *of) rules.insert(rule);
  const auto count = [](const Summary& of, const std::string& rule) {
    const auto at = of.by_rule.find(rule);
    return at == of.by_rule.end() ? 0 : at->second;
  };
  for (const std::string& rule : rules)
    if (count(said, rule) != count(holds, rule))
      return fmt::format("its summary counts {} of {}, and there are {}", count(said, rule), ends_of(rule),
                         count(holds, rule));
  return std::nullopt;
}

}  // namespace

std::optional<std::string> contradiction(const Report& report) {
  if (const auto wrong = impossible(report.violations)) return "contradicts itself: " + *wrong;
  const auto counts_of = [](const Summary& of) {
    const std::string text =
        fmt::format("{}, {}, {} and {} suppressed", counted(of.errors, "error"),
                    counted(of.warnings, "warning"), counted(of.notes, "note"), grouped(of.suppressed));
    return of.symptoms ? text + " with " + counted(of.symptoms, "symptom") : text;
  };
  const Summary holds = summary_of(report);
  if (counts_of(holds) != counts_of(report.summary))
    return fmt::format("contradicts itself: its summary counts {}, and there are {}",
                       counts_of(report.summary), counts_of(holds));
  if (const auto wrong = miscounted(report.summary, holds)) return "contradicts itself: " + *wrong;
  const Verdict verdict = verdict_of(report);
  if (verdict != report.verdict)
    return fmt::format("contradicts itself: its verdict is {}, and its contents make it {}",
                       name(report.verdict), name(verdict));
  return std::nullopt;
}

}  // namespace capgate::reports
