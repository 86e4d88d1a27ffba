#include "reports/verdict/causes.h"

#include <algorithm>
#include <optional>
#include <string>

namespace capgate::reports {
namespace {

bool may_be_named_by(const Violation& cause, const Violation& symptom) {
  return &cause != &symptom && !cause.suppressed && !symptom.suppressed && cause.severity <= symptom.severity;
}

// The chains of symptom_of, by index.
class Chains {
 public:
  Chains(const std::vector<Violation>& violations, const std::vector<std::string>& names)
      : violations_(violations), next_(violations.size()), found_(violations.size()) {
    std::map<std::string_view, size_t> by_name;
    for (size_t i = 0; i < names.size(); ++i)
      if (!names[i].empty()) by_name.emplace(names[i], i);
    for (size_t i = 0; i < violations.size(); ++i) {
      if (!violations[i].symptom_of) continue;
      if (const auto at = by_name.find(*violations[i].symptom_of); at != by_name.end()) next_[i] = at->second;
    }
    for (size_t i = 0; i < violations.size(); ++i) open_circle(i);
  }

  // The last of the chain behind `i` that it may follow from and that follows from nothing.
  std::optional<size_t> cause(size_t i) {
    if (found_[i]) return found_[i]->cause;
    std::vector<size_t> path;
    for (size_t at = i; !found_[at]; at = *next_[at]) {
      path.push_back(at);
      if (!next_[at]) break;
    }
    for (auto at = path.rbegin(); at != path.rend(); ++at) found_[*at] = Found{look_up(*at)};
    return found_[i]->cause;
  }

 private:
  struct Found {
    std::optional<size_t> cause;
  };

  std::optional<size_t> look_up(size_t i) const {
    if (!next_[i]) return std::nullopt;
    const size_t before = found_[*next_[i]]->cause.value_or(*next_[i]);
    return may_be_named_by(violations_[before], violations_[i]) ? std::optional(before) : std::nullopt;
  }

  // Two reports may each call the other's cause a symptom. The one with the least id is the cause then.
  void open_circle(size_t from) {
    size_t slow = from, fast = from;
    do {
      if (!next_[fast] || !next_[*next_[fast]]) return;
      slow = *next_[slow];
      fast = *next_[*next_[fast]];
    } while (slow != fast);
    size_t least = slow;
    for (size_t at = *next_[slow]; at != slow; at = *next_[at])
      if (violations_[at].id < violations_[least].id) least = at;
    next_[least].reset();
  }

  const std::vector<Violation>& violations_;
  std::vector<std::optional<size_t>> next_;
  std::vector<std::optional<Found>> found_;
};

}  // namespace

Causes::Causes(const Report& report) {
  for (const auto& violation : report.violations) by_id_.emplace(violation.id, &violation);
  for (const auto& violation : report.violations)
    if (const Violation* cause = cause_of(violation)) symptoms_[cause].push_back(&violation);
}

const Violation* Causes::cause_of(const Violation& violation) const {
  if (!violation.symptom_of) return nullptr;
  const auto at = by_id_.find(*violation.symptom_of);
  if (at == by_id_.end() || at->second->symptom_of) return nullptr;
  return may_be_named_by(*at->second, violation) ? at->second : nullptr;
}

const std::vector<const Violation*>& Causes::symptoms_of(const Violation& cause) const {
  static const std::vector<const Violation*> kNone;
  const auto at = symptoms_.find(&cause);
  return at == symptoms_.end() ? kNone : at->second;
}

namespace {

double blocked_us(const Violation& violation) {
  return violation.per_step ? violation.per_step->blocked_us.value_or(0) : 0;
}

double weight(const Violation& violation) {
  const double blocked = blocked_us(violation);
  return blocked > 0 ? blocked + Causes::kCallUs * violation.per_step->count : 0;
}

}  // namespace

double Causes::blocked_us_per_step(const Violation& cause) const {
  double sum = blocked_us(cause);
  for (const Violation* symptom : symptoms_of(cause)) sum += blocked_us(*symptom);
  return sum;
}

double Causes::weight_per_step(const Violation& cause) const {
  double sum = weight(cause);
  for (const Violation* symptom : symptoms_of(cause)) sum += weight(*symptom);
  return sum;
}

void settle_symptoms(std::vector<Violation>& violations, const std::vector<std::string>& names) {
  Chains chains(violations, names);
  std::vector<std::optional<std::string>> settled(violations.size());
  for (size_t i = 0; i < violations.size(); ++i)
    if (const auto cause = chains.cause(i)) settled[i] = violations[*cause].id;
  for (size_t i = 0; i < violations.size(); ++i) violations[i].symptom_of = std::move(settled[i]);
}

}  // namespace capgate::reports
