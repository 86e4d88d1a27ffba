// Causes that no producer can see alone: they follow from the situation's fix, or from two reports.
#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "reports/catalogue/situations.h"
#include "reports/identity/fingerprint.h"
#include "reports/identity/function_key.h"
#include "reports/verdict/causes.h"

namespace capgate::reports {
namespace {

// The line at which a value comes to the host.
using Line = std::pair<std::string, int>;

bool brings_a_value(const Violation& violation) {
  return violation.seen_by(Evidence::runtime) && !violation.location.file.empty() &&
         violation.location.line > 0 &&
         (violation.rule == "host-sync" || violation.rule == "sync-copy" ||
          violation.rule == "pageable-copy");
}

// Lower goes first: what waits is the cause, a copy that something else waits for is not.
int rank(const Violation& violation) {
  return violation.rule == "pageable-copy" ? 1 : 0;
}

}  // namespace

void join_whole_functions(std::vector<Violation>& violations) {
  std::map<std::tuple<std::string_view, std::string, std::string>, std::vector<Violation*>> groups;
  for (Violation& violation : violations)
    if (!violation.suppressed && !violation.symptom_of && !violation.location.function.empty() &&
        situation_named(violation).whole_function)
      groups[{violation.situation, path_key(violation.location.file),
              function_key(violation.location.function)}]
          .push_back(&violation);
  for (auto& [key, group] : groups) {
    const Violation* first = *std::min_element(group.begin(), group.end(), [](const auto* a, const auto* b) {
      return std::tie(a->severity, a->location.line, a->id) < std::tie(b->severity, b->location.line, b->id);
    });
    for (Violation* other : group)
      if (other != first) other->symptom_of = first->id;
  }
}

void join_uses_with_runs(std::vector<Violation>& violations) {
  std::map<Line, const Violation*> brought;
  for (const Violation& violation : violations) {
    if (!brings_a_value(violation)) continue;
    const Violation*& known = brought[{path_key(violation.location.file), violation.location.line}];
    if (!known || rank(violation) < rank(*known)) known = &violation;
  }
  for (Violation& violation : violations) {
    if (violation.symptom_of || violation.seen_by(Evidence::runtime) || violation.flow.empty() ||
        (violation.rule != "host-branch" && violation.rule != "device-sized"))
      continue;
    const FlowStep& from = violation.flow.front();
    if (const auto cause = brought.find({path_key(from.file), from.line}); cause != brought.end())
      violation.symptom_of = cause->second->id;
  }
}

}  // namespace capgate::reports
