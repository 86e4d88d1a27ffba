#include <algorithm>
#include <map>

#include "reports/baseline/baseline_file.h"
#include "reports/identity/fingerprint.h"
#include "reports/identity/function_key.h"

namespace capgate::reports {

BaselineUpdate update_baseline(const std::vector<BaselineEntry>& before, const Report& report,
                               const BaselineEntry& fresh) {
  std::map<std::string_view, const BaselineEntry*> known;
  for (const BaselineEntry& entry : before) known.emplace(entry.id, &entry);
  BaselineUpdate out;
  for (const Violation& fault : report.violations) {
    if (fault.suppressed || fault.severity == Severity::note) continue;
    const auto at = known.find(fault.id);
    BaselineEntry entry = at == known.end() ? fresh : *at->second;
    ++(at == known.end() ? out.added : out.kept);
    if (at != known.end()) known.erase(at);
    entry.id = fault.id;
    entry.rule = fault.rule;
    entry.severity = fault.severity;
    entry.file = path_key(fault.location.file);
    entry.function = function_key(fault.location.function);
    out.entries.push_back(std::move(entry));
  }
  for (const auto& [id, entry] : known) {
    if (report.reasons.empty()) {
      ++out.dropped;
    } else {
      ++out.unseen;
      out.entries.push_back(*entry);
    }
  }
  return out;
}

}  // namespace capgate::reports
