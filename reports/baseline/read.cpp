#include "reports/baseline/read.h"

#include "base/files/read_text.h"
#include "reports/baseline/pairs.h"
#include "reports/json/json.h"
#include "reports/verdict/contradiction.h"

namespace capgate::reports {

Violation fault_of(const BaselineEntry& entry) {
  Violation fault;
  fault.id = entry.id;
  fault.rule = entry.rule;
  fault.severity = entry.severity;
  fault.message = "known, by the baseline";
  fault.location.file = entry.file;
  fault.location.function = entry.function;
  return fault;
}

Result<Baseline> read_baseline(const std::string& path, const std::string& day) {
  const auto text = read_text(path);
  if (!text) return Error{text.error()};
  Baseline out;
  if (!is_baseline_text(*text)) {
    const std::string source = path == "-" ? "standard input" : path;
    const size_t begin = text->find_first_not_of(" \t\r\n");
    if (begin == std::string::npos || (*text)[begin] != '{')
      return Error{source + ": " + (begin == std::string::npos ? "is empty" : "is something else") +
                   "; an older report was expected, or a file that begins with the line \"# "
                   "capgate-baseline/1\""};
    auto report = from_json(*text, source);
    if (!report) return Error{report.error()};
    if (const auto against = contradiction(*report)) return Error{source + ": " + *against};
    out.is_report = true;
    out.report = std::move(*report);
    return out;
  }
  auto entries = parse_baseline(*text, path);
  if (!entries) return Error{entries.error()};
  out.entries = std::move(*entries);
  for (const BaselineEntry& entry : out.entries) {
    Violation& fault = out.report.violations.emplace_back(fault_of(entry));
    if (has_ended(entry, day)) fault.suppressed = Suppressed{"held until " + entry.until, "baseline"};
  }
  return out;
}

std::vector<const BaselineEntry*> ended(const Baseline& baseline, const Report& report,
                                        const std::string& day) {
  std::vector<Violation> faults;
  faults.reserve(baseline.entries.size());
  for (const BaselineEntry& entry : baseline.entries) faults.push_back(fault_of(entry));
  const auto pairs = pair_faults(report.violations, faults);
  std::vector<bool> present(faults.size(), false);
  for (size_t i = 0; i < pairs.size(); ++i) {
    const Violation& fault = report.violations[i];
    if (pairs[i] && !fault.suppressed && fault.severity != Severity::note) present[*pairs[i]] = true;
  }
  std::vector<const BaselineEntry*> out;
  for (size_t i = 0; i < faults.size(); ++i)
    if (present[i] && has_ended(baseline.entries[i], day)) out.push_back(&baseline.entries[i]);
  return out;
}

}  // namespace capgate::reports
