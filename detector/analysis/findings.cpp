#include <algorithm>
#include <cmath>

#include "detector/analysis/judge.h"

namespace capgate::analysis {

Findings::Entry& Findings::at(const std::string& rule, const std::string& site) {
  const auto [at, fresh] = entries_.try_emplace({rule, site});
  if (fresh) {
    at->second.violation.rule = rule;
    at->second.violation.count = 0;
    order_.push_back(&at->second);
  }
  return at->second;
}

std::vector<reports::Violation> Findings::take() {
  std::vector<reports::Violation> out;
  std::map<const Entry*, std::string> names;
  for (const Entry* entry : order_) names[entry] = "#" + std::to_string(names.size());
  for (Entry* entry : order_) {
    auto& violation = entry->violation;
    violation.id = names[entry];
    // A symptom is one each time, and of one cause.
    if (entry->causes.size() == 1 && entry->causes.begin()->second == violation.count)
      violation.symptom_of = names[entry->causes.begin()->first];
    // A fault that only the first pass shows, while later passes do without, is what a warm-up is for.
    if (entry->later == 0) violation.severity = reports::Severity::note;
    StepShare share = entry->in_regions;
    if (share.calls == 0)
      for (const auto& [process, in_replays] : entry->in_replays) share += in_replays;
    violation.per_step = share.per_step();
    // Sums of microseconds keep no more digits than the clock has.
    if (violation.blocked_us) violation.blocked_us = std::round(*violation.blocked_us * 1000) / 1000;
    violation.processes.assign(entry->processes.begin(), entry->processes.end());
    if (entry->unallowed == 0 && violation.count > 0)
      violation.suppressed = reports::Suppressed{entry->allow_reason, "capgate_allow"};
    out.push_back(std::move(violation));
  }
  entries_.clear();
  order_.clear();
  return out;
}

}  // namespace capgate::analysis
