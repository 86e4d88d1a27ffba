#include <algorithm>
#include <cmath>
#include <cstdio>

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
  for (Entry* entry : order_) {
    auto& violation = entry->violation;
    // A fault that only the first pass shows, while later passes do without, is what a warm-up is for.
    if (entry->later == 0) violation.severity = reports::Severity::note;
    if (entry->in_passes > entry->passes.size()) {
      // "8 times a step" tells more than 32 times in a run of four.
      const double each = static_cast<double>(entry->in_passes) / static_cast<double>(entry->passes.size());
      char text[32];
      std::snprintf(text, sizeof text, "%.3g", each);
      violation.details["times a step"] = text;
    }
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
