#include "reports/baseline/read.h"

#include <set>

#include "base/files/read_text.h"
#include "reports/json/json.h"
#include "reports/verdict/verdict.h"

namespace capgate::reports {
namespace {

bool has_ended(const BaselineEntry& entry, const std::string& day) {
  return !entry.until.empty() && entry.until < day;
}

Violation fault_of(const BaselineEntry& entry, const std::string& day) {
  Violation fault;
  fault.id = entry.id;
  fault.rule = entry.rule;
  fault.severity = entry.severity;
  fault.message = "known, by the baseline";
  fault.location.file = entry.file;
  fault.location.function = entry.function;
  if (has_ended(entry, day)) fault.suppressed = Suppressed{"held until " + entry.until, "baseline"};
  return fault;
}

}  // namespace

Result<Baseline> read_baseline(const std::string& path, const std::string& day) {
  const auto text = read_text(path);
  if (!text) return Error{text.error()};
  Baseline out;
  if (!is_baseline_text(*text)) {
    const std::string source = path == "-" ? "standard input" : path;
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
  for (const BaselineEntry& entry : out.entries) out.report.violations.push_back(fault_of(entry, day));
  return out;
}

std::vector<const BaselineEntry*> ended(const Baseline& baseline, const Report& report,
                                        const std::string& day) {
  std::set<std::string_view> present;
  for (const Violation& fault : report.violations)
    if (!fault.suppressed && fault.severity != Severity::note) present.insert(fault.id);
  std::vector<const BaselineEntry*> out;
  for (const BaselineEntry& entry : baseline.entries)
    if (has_ended(entry, day) && present.contains(entry.id)) out.push_back(&entry);
  return out;
}

}  // namespace capgate::reports
