#include "reports/verdict/failure.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "base/counted.h"
#include "reports/catalogue/catalogue.h"
#include "reports/catalogue/situations.h"
#include "reports/model/cuda_answer.h"
#include "reports/verdict/verdict.h"

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
  // An unknown rule is of a newer capgate: that a graph is wrong is the graver thing to overlook.
  const IfCaptured by_rule = rule ? rule->if_captured : IfCaptured::wrong;
  switch (situation_named(violation).if_captured.value_or(by_rule)) {
    case IfCaptured::dies:
      return FailureKind::capture_dies;
    case IfCaptured::wrong:
      return FailureKind::graph_is_wrong;
    case IfCaptured::neither:
      break;
  }
  return std::nullopt;
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

}  // namespace

std::optional<Failure> failure_of(const Report& report, const Violation& violation) {
  return failure_of(violation, outcomes_of(report));
}

std::optional<Failure> failure_of(const Report& report, std::span<const Violation* const> faults) {
  const Outcomes outcomes = outcomes_of(report);
  std::optional<Failure> first;
  size_t would_die = 0;
  for (const Violation* fault : faults) {
    const auto failure = failure_of(*fault, outcomes);
    if (!failure) continue;
    if (!failure->observed && failure->kind == FailureKind::capture_dies && is_error(*fault) &&
        !fault->symptom_of)
      ++would_die;
    if (!first || rank(*failure) < rank(*first)) first = failure;
  }
  if (first) first->among_others = would_die > 1;
  return first;
}

std::optional<Failure> failure_of(const Report& report) {
  std::vector<const Violation*> errors;
  for (const Violation& violation : report.violations)
    if (is_error(violation) && !report.knows(violation)) errors.push_back(&violation);
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

namespace {

// The words that follow "it captures, but".
std::string graph_words(const Violation* fault) {
  const Rule* rule = fault ? find_rule(fault->rule) : nullptr;
  if (fault)
    if (const std::string_view own = situation_named(*fault).graph; !own.empty()) return std::string(own);
  return rule && !rule->graph.empty() ? std::string(rule->graph) : "is not the step that was meant";
}

// "holds the address" -> "hold the address"
std::string without_s(std::string words) {
  if (const size_t end = words.find(' '); end != std::string::npos && end > 0 && words[end - 1] == 's')
    words.erase(end - 1, 1);
  return words;
}

std::string after_would(const std::string& words) {
  return words.starts_with("is ") ? "be " + words.substr(3) : without_s(words);
}

// How a graph is wrong that no capture made, or that CUDA refused; empty for others.
std::string own_way(const Violation& fault, const std::string& words) {
  if (const auto refused = fault.details.find("refused"); refused != fault.details.end())
    return refused->second == "update" && fault.details.contains("launched again")
               ? "its update was refused, and it was launched as it was"
               : "CUDA refused its " + refused->second;
  return fault.details.contains("graph") ? "it launches, but " + words : "";
}

}  // namespace

std::string wrong_launches(const Violation& fault, uint64_t launches) {
  const std::string words = graph_words(&fault);
  if (launches == 1) return "the one launch of the graph " + words;
  return "all " + grouped(launches) + " launches of the graph " +
         (words.starts_with("is ") ? "are " + words.substr(3) : without_s(words));
}

std::string failure_text(const Failure& failure, const std::string& place) {
  const std::string at = place.empty() ? "" : " at " + place;
  if (failure.kind == FailureKind::capture_dies) {
    const bool several = !failure.observed && failure.among_others && !at.empty();
    return (failure.observed ? "CAPTURE DIES" : "A CAPTURE WOULD DIE") + at +
           (several ? ", among others" : "");
  }
  const std::string words = graph_words(failure.at), end = at.empty() ? "" : "," + at;
  if (failure.observed) {
    const std::string own = failure.at ? own_way(*failure.at, words) : "";
    return "GRAPH IS WRONG: " + (own.empty() ? "it captures, but " + words : own) + end;
  }
  const Rule* rule = failure.at ? find_rule(failure.at->rule) : nullptr;
  return std::string(rule && rule->could ? "A REPLAY COULD BE WRONG" : "A REPLAY WOULD BE WRONG") +
         ": a graph of this step would " + after_would(words) + end;
}

}  // namespace capgate::reports
