#include "reports/baseline/baseline_file.h"
#include "reports/baseline/pairs.h"
#include "reports/identity/fingerprint.h"
#include "reports/identity/function_key.h"
#include "reports/verdict/causes.h"

namespace capgate::reports {

BaselineUpdate update_baseline(const std::vector<BaselineEntry>& before, const Report& report,
                               const BaselineEntry& fresh, const std::string& day, Unlisted unlisted) {
  std::vector<Violation> known;
  known.reserve(before.size());
  for (const BaselineEntry& entry : before) known.push_back(fault_of(entry));
  const auto pairs = pair_faults(report.violations, known);
  const Causes causes(report);
  std::vector<bool> kept(before.size(), false);
  BaselineUpdate out;
  for (size_t i = 0; i < pairs.size(); ++i) {
    const Violation& fault = report.violations[i];
    if (fault.suppressed || fault.severity == Severity::note) continue;
    // The line of its cause covers a symptom.
    if (!pairs[i] && causes.cause_of(fault)) continue;
    if (!pairs[i] && unlisted == Unlisted::leave_out) {
      ++out.left_out;
      continue;
    }
    BaselineEntry entry = pairs[i] ? before[*pairs[i]] : fresh;
    ++(pairs[i] ? out.kept : out.added);
    if (pairs[i]) kept[*pairs[i]] = true;
    if (pairs[i] && !fresh.until.empty() && has_ended(entry, day)) {
      entry.until = fresh.until;
      ++out.extended;
    }
    entry.id = fault.id;
    entry.rule = fault.rule;
    entry.severity = fault.severity;
    entry.file = path_key(fault.location.file);
    entry.function = function_key(fault.location.function);
    out.entries.push_back(std::move(entry));
  }
  for (size_t i = 0; i < before.size(); ++i) {
    if (kept[i]) continue;
    if (report.reasons.empty()) {
      ++out.dropped;
    } else {
      ++out.unseen;
      out.entries.push_back(before[i]);
    }
  }
  return out;
}

}  // namespace capgate::reports
