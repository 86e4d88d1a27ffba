#include "reports/baseline/pairs.h"

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "reports/identity/fingerprint.h"
#include "reports/identity/function_key.h"

namespace capgate::reports {
namespace {

// The least of several that have one id: what is allowed stands for none.
std::pair<bool, Severity> weight(const Violation& fault) {
  return {fault.suppressed.has_value(), fault.severity};
}

// The digits of an id alone are few; what people read beside it must agree.
using Group = std::tuple<std::string_view, std::string, std::string, std::string_view>;

Group group_of(const Violation& fault) {
  return {id_group(fault.id), path_key(fault.location.file), function_key(fault.location.function),
          fault.rule};
}

}  // namespace

std::vector<std::optional<size_t>> pair_faults(const std::vector<Violation>& now,
                                               const std::vector<Violation>& before) {
  std::vector<std::optional<size_t>> pairs(now.size());
  std::multimap<std::string_view, size_t> by_id;
  for (size_t i = 0; i < before.size(); ++i) by_id.emplace(before[i].id, i);
  std::vector<bool> taken(before.size(), false);
  for (size_t i = 0; i < now.size(); ++i) {
    const auto [first, last] = by_id.equal_range(now[i].id);
    for (auto at = first; at != last; ++at) {
      if (!pairs[i] || weight(before[at->second]) < weight(before[*pairs[i]])) pairs[i] = at->second;
      taken[at->second] = true;
    }
  }
  std::multimap<Group, size_t> left;  // of one group in the order in which they were put in
  for (const bool allowed : {false, true})
    for (size_t i = 0; i < before.size(); ++i)
      if (!taken[i] && before[i].severity != Severity::note && before[i].suppressed.has_value() == allowed)
        left.emplace(group_of(before[i]), i);
  if (left.empty()) return pairs;
  for (size_t i = 0; i < now.size(); ++i) {
    if (pairs[i] || now[i].suppressed || now[i].severity == Severity::note) continue;
    const auto [first, last] = left.equal_range(group_of(now[i]));
    for (auto at = first; at != last; ++at) {
      if (before[at->second].severity > now[i].severity) continue;  // a warning that is an error now is new
      pairs[i] = at->second;
      left.erase(at);
      break;
    }
  }
  return pairs;
}

}  // namespace capgate::reports
