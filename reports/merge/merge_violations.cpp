#include "reports/merge/merge_violations.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "reports/catalogue/situations.h"
#include "reports/identity/fingerprint.h"
#include "reports/identity/function_key.h"
#include "reports/merge/merge_sizes.h"

namespace capgate::reports {
namespace {

constexpr int kLinesApart = 2;

// The debug information of an inlined call may leave out the namespace or the class that the front end names.
bool same_function(std::string_view a, std::string_view b) {
  const std::string one = function_key(a), other = function_key(b);
  const std::string& longer = one.size() > other.size() ? one : other;
  const std::string& shorter = one.size() > other.size() ? other : one;
  if (longer == shorter) return true;
  return !shorter.empty() && (longer.ends_with("::" + shorter) || longer.ends_with("." + shorter));
}

// What the user's line called, by the stack: where a run sees a library allocate, the sources only show the
// library's own function. Empty if the stack does not tell.
std::string called_by_the_line(const Violation& violation) {
  for (const Stack& stack : violation.stacks) {
    if (stack.role != StackRole::call) continue;
    for (size_t i = 1; i < stack.frames.size(); ++i) {
      const Frame& frame = stack.frames[i];
      if (frame.line != violation.location.line || frame.file != violation.location.file) continue;
      const std::string& inner = stack.frames[i - 1].function;
      return callee_name(std::string_view(inner).substr(0, inner.find('+')));
    }
  }
  return "";
}

bool same_callee(const Violation& a, const Violation& b) {
  const std::string one = callee_key(a), other = callee_key(b);
  if (one == other) return true;
  if (a.seen_by(Evidence::runtime) == b.seen_by(Evidence::runtime)) return false;
  const Violation& run = a.seen_by(Evidence::runtime) ? a : b;
  const std::string& in_sources = a.seen_by(Evidence::runtime) ? other : one;
  return !in_sources.empty() && called_by_the_line(run) == in_sources;
}

// A capture that died of a call that no finer rule of the run speaks of: the sources may have one.
bool same_rule(const Violation& a, const Violation& b) {
  constexpr std::string_view kAnyRefusal = "capture-invalidated";
  if (a.rule == b.rule) return true;
  const bool refused = (a.rule == kAnyRefusal && !b.seen_by(Evidence::runtime)) ||
                       (b.rule == kAnyRefusal && !a.seen_by(Evidence::runtime));
  return refused && !callee_key(a).empty();
}

bool same_fault(const Violation& a, const Violation& b) {
  return same_rule(a, b) && std::abs(a.location.line - b.location.line) <= kLinesApart &&
         path_key(a.location.file) == path_key(b.location.file) &&
         same_function(a.location.function, b.location.function) && same_callee(a, b);
}

template <class T>
void unite(std::vector<T>& into, const std::vector<T>& from) {
  into.insert(into.end(), from.begin(), from.end());
  std::sort(into.begin(), into.end());
  into.erase(std::unique(into.begin(), into.end()), into.end());
}

template <class T>
void take_if_empty(std::optional<T>& into, std::optional<T>& from) {
  if (!into) into = std::move(from);
}

template <class T>
void take_if_empty(std::vector<T>& into, std::vector<T>& from) {
  if (into.empty()) into = std::move(from);
}

// One kind of evidence looked at two runs or ranks: one of them unsuppressed is a fault. Two kinds looked at
// one place: the reason given for one is given for the place.
std::optional<Suppressed> suppression(const Violation& a, const Violation& b) {
  const bool same_kind =
      std::any_of(a.evidence.begin(), a.evidence.end(), [&](Evidence kind) { return b.seen_by(kind); });
  if (same_kind && !(a.suppressed && b.suppressed)) return std::nullopt;
  return a.suppressed ? a.suppressed : b.suppressed;
}

void add_left_out(std::vector<StepsLeftOut>& into, const std::vector<StepsLeftOut>& from) {
  for (const auto& left : from) {
    const auto own = std::find_if(into.begin(), into.end(),
                                  [&](const StepsLeftOut& known) { return known.why == left.why; });
    if (own == into.end())
      into.push_back(left);
    else
      own->steps += left.steps;
  }
}

// Of two ranks: what it costs in a step of either.
void combine(std::optional<PerStep>& into, const std::optional<PerStep>& from) {
  if (!into || !from) {
    if (!into) into = from;
    return;
  }
  const auto own = static_cast<double>(into->steps), other = static_cast<double>(from->steps);
  if (own + other == 0) return;
  const auto mean = [&](double a, double b) { return (a * own + b * other) / (own + other); };
  into->count = mean(into->count, from->count);
  if (into->blocked_us || from->blocked_us)
    into->blocked_us = mean(into->blocked_us.value_or(0), from->blocked_us.value_or(0));
  into->steps += from->steps;
  add_left_out(into->left_out, from->left_out);
}

uint64_t number_in(const Violation& violation, const std::string& key, uint64_t otherwise) {
  const auto detail = violation.details.find(key);
  return detail == violation.details.end() ? otherwise : std::strtoull(detail->second.c_str(), nullptr, 10);
}

// Of two runs or ranks: the captures of both. The launches are known where each report has several captures.
void count_captures(Violation& into, const Violation& from) {
  if (!into.capture || !from.capture || !from.seen_by(Evidence::runtime)) return;
  const auto add = [&](const std::string& key, uint64_t own, uint64_t other) {
    into.details[key] = std::to_string(number_in(into, key, own) + number_in(from, key, other));
  };
  if (into.details.contains("times captured") || from.details.contains("times captured"))
    add("times captured", into.count, from.count);
  if (into.details.contains("launches") && from.details.contains("launches"))
    add("launches", 0, 0);
  else
    into.details.erase("launches");
  add("captures", 1, 1);
}

// A fix that the producer wrote for this place; the others are the catalogue's.
bool has_own_fix(const Violation& violation) {
  const Situation& situation = situation_of(violation);
  return !violation.hint.empty() && fix_given(situation, violation) == violation.hint &&
         violation.hint != fix_of(situation, violation);
}

void combine(Violation& into, Violation from) {
  // What happened in a run tells more than what could: its message, place and stack stand.
  if (!into.seen_by(Evidence::runtime) && from.seen_by(Evidence::runtime)) std::swap(into, from);
  if (into.rule != from.rule) {  // the finer of the two
    into.rule = from.rule;
    into.hint = from.hint;
  }
  // What lint says of this very place goes before what the catalogue says of every place.
  if (!has_own_fix(into) && has_own_fix(from)) into.hint = from.hint;
  into.suppressed = suppression(into, from);
  into.severity = std::min(into.severity, from.severity);
  count_captures(into, from);
  if (from.seen_by(Evidence::runtime)) {
    join_sizes(into.message, from.message);
    for (auto& [key, value] : into.details)
      if (const auto other = from.details.find(key); other != from.details.end())
        join_sizes(value, other->second);
  }
  into.count += from.seen_by(Evidence::runtime) ? from.count : 0;
  if (from.blocked_us) into.blocked_us = into.blocked_us.value_or(0) + *from.blocked_us;
  combine(into.per_step, from.per_step);
  if (!into.symptom_of) into.symptom_of = from.symptom_of;
  if (from.bytes) into.bytes = into.bytes.value_or(0) + *from.bytes;  // as many as all occurrences together
  unite(into.evidence, from.evidence);
  unite(into.processes, from.processes);
  take_if_empty(into.api, from.api);
  take_if_empty(into.result, from.result);
  take_if_empty(into.capture, from.capture);
  into.nodes.insert(into.nodes.end(), from.nodes.begin(), from.nodes.end());
  take_if_empty(into.source, from.source);
  take_if_empty(into.flow, from.flow);
  if (into.location.line == from.location.line) take_if_empty(into.location.column, from.location.column);
  for (auto& stack : from.stacks)
    if (std::none_of(into.stacks.begin(), into.stacks.end(),
                     [&](const Stack& own) { return own.role == stack.role; }))
      into.stacks.push_back(std::move(stack));
  // What was left out of `into` on purpose does not come back.
  from.details.erase("launches");
  into.details.merge(from.details);
}

}  // namespace

namespace {

// Two reports may call different faults by one id, and symptoms name their causes by it.
void keep_ids_apart(std::vector<Violation>& violations, size_t number) {
  const std::string prefix = std::to_string(number) + ":";
  for (auto& violation : violations) {
    violation.id.insert(0, prefix);
    if (violation.symptom_of) violation.symptom_of->insert(0, prefix);
  }
}

}  // namespace

void merge_violations(std::vector<Violation>& into, std::vector<Violation> from, size_t number) {
  keep_ids_apart(from, number);
  // Closest lines are paired first, so that neighbours in one function do not steal each other's twin.
  struct Pair {
    int apart;
    size_t into, from;
  };
  std::vector<Pair> pairs;
  const size_t before = into.size();
  for (size_t i = 0; i < before; ++i)
    for (size_t k = 0; k < from.size(); ++k)
      if (same_fault(into[i], from[k]))
        pairs.push_back({std::abs(into[i].location.line - from[k].location.line), i, k});
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& a, const Pair& b) { return a.apart < b.apart; });

  std::vector<bool> taken_into(before), taken_from(from.size());
  std::map<std::string, std::string> one_with;  // ids
  for (const Pair& pair : pairs) {
    if (taken_into[pair.into] || taken_from[pair.from]) continue;
    taken_into[pair.into] = taken_from[pair.from] = true;
    const std::string kept = into[pair.into].id;
    one_with[from[pair.from].id] = kept;
    combine(into[pair.into], std::move(from[pair.from]));
    into[pair.into].id = kept;
  }
  for (size_t k = 0; k < from.size(); ++k)
    if (!taken_from[k]) into.push_back(std::move(from[k]));
  for (auto& violation : into)
    if (violation.symptom_of)
      if (const auto same = one_with.find(*violation.symptom_of); same != one_with.end())
        violation.symptom_of = same->second;
}

}  // namespace capgate::reports
