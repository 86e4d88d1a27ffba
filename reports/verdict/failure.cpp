#include "reports/verdict/failure.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "reports/catalogue/catalogue.h"
#include "reports/model/cuda_answer.h"

namespace capgate::reports {
namespace {

enum class Outcome { unknown, graph, none };

// What became of each capture, by id.
using Outcomes = std::unordered_map<std::string_view, Outcome>;

Outcomes outcomes_of(const Report& report) {
  Outcomes outcomes;
  for (const Capture& capture : report.captures) {
    Outcome outcome = Outcome::unknown;  // still open when the trace ended
    if (capture.result == "completed" || capture.result == "empty") outcome = Outcome::graph;
    if (capture.result.starts_with("failed")) outcome = Outcome::none;
    outcomes.emplace(capture.id, outcome);
  }
  return outcomes;
}

std::optional<FailureKind> kind_by_rule(const Violation& violation) {
  const Rule* rule = find_rule(violation.rule);
  if (rule && rule->if_captured == IfCaptured::neither) return std::nullopt;
  // An unknown rule is of a newer capgate: that a graph is wrong is the graver thing to overlook.
  return rule && rule->if_captured == IfCaptured::dies ? FailureKind::capture_dies
                                                       : FailureKind::graph_is_wrong;
}

std::optional<Failure> failure_of(const Violation& violation, const Outcomes& outcomes) {
  const auto by_rule = kind_by_rule(violation);
  if (!by_rule) return std::nullopt;
  const bool observed =
      violation.seen_by(Evidence::runtime) &&
      (violation.capture || violation.phase == Phase::capture || violation.phase == Phase::replay);
  if (!observed) return Failure{*by_rule, false, &violation};
  Outcome outcome = Outcome::unknown;
  if (violation.capture)
    if (const auto capture = outcomes.find(*violation.capture); capture != outcomes.end())
      outcome = capture->second;
  FailureKind kind = *by_rule;
  if (outcome == Outcome::graph || violation.phase == Phase::replay)
    kind = FailureKind::graph_is_wrong;  // whatever CUDA refused in it, such as a launch of another device's
                                         // kernel
  else if (was_refused(violation))
    kind = FailureKind::capture_dies;
  return Failure{kind, true, &violation};
}

// Lower goes first.
int rank(const Failure& failure) {
  return (failure.observed ? 0 : 2) + (failure.kind == FailureKind::capture_dies ? 0 : 1);
}

bool is_error(const Violation& violation) {
  return violation.severity == Severity::error && !violation.suppressed;
}

}  // namespace

std::optional<Failure> failure_of(const Report& report, const Violation& violation) {
  return failure_of(violation, outcomes_of(report));
}

std::optional<Failure> failure_of(const Report& report, std::span<const Violation* const> faults) {
  const Outcomes outcomes = outcomes_of(report);
  std::optional<Failure> first;
  for (const Violation* fault : faults) {
    const auto failure = failure_of(*fault, outcomes);
    if (failure && (!first || rank(*failure) < rank(*first))) first = failure;
  }
  return first;
}

std::optional<Failure> failure_of(const Report& report) {
  std::vector<const Violation*> errors;
  for (const Violation& violation : report.violations)
    if (is_error(violation)) errors.push_back(&violation);
  return failure_of(report, errors);
}

std::vector<int> failure_ranks(const Report& report) {
  constexpr int kLast = 4;
  const Outcomes outcomes = outcomes_of(report);
  std::vector<int> ranks;
  ranks.reserve(report.violations.size());
  for (const Violation& violation : report.violations) {
    const auto failure = failure_of(violation, outcomes);
    ranks.push_back(failure ? rank(*failure) : kLast);
  }
  return ranks;
}

std::string failure_text(const Failure& failure, const std::string& place) {
  const std::string at = place.empty() ? "" : " at " + place;
  if (failure.kind == FailureKind::capture_dies)
    return (failure.observed ? "CAPTURE DIES" : "A CAPTURE WOULD DIE") + at;
  const Rule* rule = failure.at ? find_rule(failure.at->rule) : nullptr;
  std::string lacks(rule && !rule->graph.empty() ? rule->graph : "is not the step that was meant");
  // The rule's own words are of work that ran on the wrong device.
  const std::string situation = failure.at ? failure.at->situation : "";
  if (situation == "wrong-device.event") lacks = "lacks an order: the event was of another device";
  if (situation == "freed-memory.registration-ended")
    lacks = "holds the address of host memory that is no longer registered";
  if (situation == "wrong-device.function") lacks = "lacks a kernel: its function was of another device";
  if (failure.observed && failure.at) {
    const auto& details = failure.at->details;
    const auto of = [&](const std::string& what) {
      if (what == "update" && details.contains("launched again"))
        return std::string("its update was refused, and it was launched as it was");
      return "CUDA refused its " + what;
    };
    std::string how;
    if (const auto refused = details.find("refused"); refused != details.end()) how = of(refused->second);
    // It was built or changed node by node: nothing captured it.
    if (how.empty() && details.contains("graph")) how = "it launches, but " + lacks;
    if (!how.empty()) return "GRAPH IS WRONG: " + how + (place.empty() ? "" : "," + at);
  }
  return (failure.observed ? "GRAPH IS WRONG: it captures, but " + lacks
                           : "A REPLAY WOULD BE WRONG: a graph of this step " + lacks) +
         (at.empty() ? "" : "," + at);
}

}  // namespace capgate::reports
