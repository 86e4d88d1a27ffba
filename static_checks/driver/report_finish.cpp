// The end of a lint: from what was kept to the report.
#include <algorithm>
#include <map>
#include <utility>

#include "base/counted.h"
#include "base/files/read_text.h"
#include "base/glob.h"
#include "static_checks/driver/read_backs.h"
#include "static_checks/driver/report_builder.h"

namespace capgate::lint {

void ReportBuilder::add_coverage(const std::optional<Changes>& changes) {
  report_.tool.component = reports::Component::static_checks;
  report_.coverage.kind = reports::CoverageKind::source;
  for (const std::string& file : failed_files_) parsed_files_.erase(file);
  report_.coverage.files_parsed = parsed_files_.size();
  report_.coverage.files_failed = failed_files_.size();
  std::vector<std::string> read;
  for (const std::string& file : user_files_) read.push_back(shown(file));
  std::sort(read.begin(), read.end());
  report_.coverage.sources_read = std::move(read);
  if (changes) {
    code_.sort();
    std::vector<std::string> files = code_.in_reach(*changes);
    for (std::string& file : files) file = shown(file);
    report_.coverage.changed = reports::ChangedSince{settings_.changed_since, std::move(files)};
  }
  for (const std::string& file : plan_.not_sources)
    report_.coverage.not_checked.push_back(shown(file) + ": neither C, C++ nor CUDA");
  for (const auto& [name, count] : regions_)
    if (!is_its_callers(name)) report_.coverage.regions.push_back({name, reports::RegionSource::lint, count});
}

reports::Violation ReportBuilder::violation_of(const Finding& finding, Macros& macros) {
  reports::Violation violation;
  violation.rule = finding.rule;
  violation.severity = finding.severity;
  violation.message = finding.message;
  violation.hint = finding.hint;
  violation.evidence = {reports::Evidence::sources};
  violation.phase = reports::Phase::source;
  if (!finding.callee.empty()) violation.api = finding.callee;
  violation.location.file = shown(finding.place.file);
  violation.location.line = finding.place.line;
  if (finding.place.column > 0) violation.location.column = finding.place.column;
  violation.location.function = finding.function;
  violation.source = lines_.around(finding.place);
  for (const FlowStep& step : finding.flow)
    violation.flow.push_back({shown(step.place.file), step.place.line, step.message});
  violation.details = finding.details;
  if (const auto allowed = violation.details.find("allow_reason"); allowed != violation.details.end()) {
    violation.suppressed = reports::Suppressed{allowed->second, "capgate_allow"};
    violation.details.erase(allowed);
  }
  if (!finding.region.empty()) violation.details["region"] = finding.region;
  if (const std::string macro = macros.around(finding); !macro.empty()) violation.details["macro"] = macro;
  return violation;
}

void ReportBuilder::add_violations(const Guarded& guarded, const std::optional<Changes>& changes) {
  for (Finding& finding : findings_) {
    guarded.settle(finding);
    // A note says that nothing may be wrong, whatever the rule.
    if (const auto chosen = settings_.severities.find(finding.rule);
        chosen != settings_.severities.end() && finding.severity != reports::Severity::note)
      finding.severity = chosen->second;
  }
  leave_out_headers();
  std::vector<const Finding*> kept;
  Macros macros(user_files_, [this](const std::string& file) -> const std::vector<std::string>& {
    return lines_.of(file);
  });
  for (const Finding& finding : findings_) {
    if (changes && !code_.concerns(finding, *changes)) continue;
    kept.push_back(&finding);
    report_.violations.push_back(violation_of(finding, macros));
  }
  link_read_backs(kept, report_.violations);
}

// Of headers that the project leaves out, that something was found there is all that is said.
void ReportBuilder::leave_out_headers() {
  if (settings_.exclude_headers.empty()) return;
  std::map<std::string, size_t> left_out;
  std::erase_if(findings_, [&](const Finding& finding) {
    const std::string file = shown(finding.place.file);
    const bool out = is_header_name(file) &&
                     std::any_of(settings_.exclude_headers.begin(), settings_.exclude_headers.end(),
                                 [&](const std::string& glob) { return glob_match(glob, file); });
    if (out) ++left_out[file];
    return out;
  });
  for (const auto& [file, number] : left_out)
    report_.coverage.not_checked.push_back(file + ": " + counted(number, "finding") +
                                           " in a header that lint.exclude_headers leaves out");
}

void ReportBuilder::suppress(const std::vector<reports::FileSuppression>& entries, bool whole) {
  reports::Suppressions suppressions;
  suppressions.entries = entries;
  for (const std::string& file : user_files_) {
    const Result<std::string> text = read_file(file);
    if (!text || text->find("capgate-allow") == std::string::npos) continue;
    for (reports::AllowComment& comment : reports::find_allow_comments(*text, shown(file)))
      suppressions.comments.push_back(std::move(comment));
  }
  reports::apply_suppressions(report_, suppressions, whole);
}

reports::Report ReportBuilder::finish(const std::vector<reports::FileSuppression>& entries,
                                      const std::optional<Changes>& changes) {
  add_coverage(changes);
  require_regions();
  report_.reasons = reasons_.list();
  const bool all_units = settings_.files.empty() && failed_files_.empty() && !settings_.arguments;
  const Guarded guarded(settings_.assumptions, summaries_, all_units);
  add_violations(guarded, changes);
  // A run over part of the units or of the lines cannot tell that a comment is of no use.
  const bool whole = settings_.files.empty() && !changes;
  suppress(entries, whole);
  if (whole) {
    guarded.report_unused(report_);
    note_unused_entries();
  }
  fold_by_macro(report_);
  fold_by_test(report_);
  return std::move(report_);
}

}  // namespace capgate::lint
