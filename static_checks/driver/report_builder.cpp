#include "static_checks/driver/report_builder.h"

#include <algorithm>
#include <utility>

#include "base/glob.h"
#include "reports/settings/frames.h"
#include "reports/suppressions/unproven.h"
#include "static_checks/commands/files.h"

namespace capgate::lint {
namespace {

std::string at_line(const std::string& file, int line) {
  return line > 0 ? file + ":" + std::to_string(line) : file;
}

}  // namespace

ReportBuilder::ReportBuilder(const LintSettings& settings, const Plan& plan, std::string root)
    : settings_(settings), plan_(plan), root_(std::move(root)) {}

std::string ReportBuilder::shown(const std::string& path) const {
  return reports::report_path(path, root_);
}

void ReportBuilder::add_unreachable(const Unreachable& file) {
  failed_files_.insert(file.file);
  reasons_.add(shown(file.file) + " was not parsed: " + file.text, file.remedy);
}

void ReportBuilder::add_unit(const UnitCommand& command, Reply reply) {
  if (!reply.failure.empty()) {
    add_unreachable(
        {command.file, reply.failure,
         reply.remedy.empty() ? "see that its compile command works, or leave the file out" : reply.remedy});
    return;
  }
  for (const Incomplete& part : reply.incomplete) {
    failed_files_.insert(command.file);
    reasons_.not_parsed(shown(command.file),
                        part.place.file.empty() ? "" : at_line(shown(part.place.file), part.place.line),
                        part.text, part.remedy);
  }
  parsed_files_.insert(command.file);
  for (const InputFile& file : reply.inputs.files)
    if (file.user) {
      user_files_.insert(file.path);
      code_.add_reader(file.path, command.file);
    }
  for (FunctionExtent& function : reply.functions) code_.add(std::move(function));
  const bool for_headers = plan_.only_for_headers.contains(command.file);
  for (const Finding& finding : reply.result.findings)
    if (!for_headers || plan_.headers.contains(finding.place.file)) add(finding);
  for (const NotAnalysed& function : reply.result.not_analysed)
    if (!for_headers || plan_.headers.contains(function.place.file)) add(function);
  for (const Region& region : reply.result.regions) {
    ++regions_[region.name];
    functions_of_[region.name].insert(region.function);
    if (!region.opened_by.empty()) opened_by_[region.name] = region.opened_by;
    if (!region.begun_through.empty()) begun_through_.insert(region.begun_through);
  }
  summaries_.push_back(std::move(reply.result.summary));
}

uint64_t ReportBuilder::calls_not_analysed(const LinkResult& links) const {
  std::set<Place> all = not_analysed_;
  all.insert(links.into_nothing.begin(), links.into_nothing.end());
  return all.size();
}

void ReportBuilder::add_links(const LinkResult& links) {
  for (const Finding& finding : links.findings) add(finding);
  for (const NotAnalysed& function : links.not_analysed) add(function);
}

void ReportBuilder::add(const Finding& finding) {
  const std::string key = finding.rule + '\0' + finding.place.file + '\0' +
                          std::to_string(finding.place.line) + ':' + std::to_string(finding.place.column) +
                          '\0' + finding.callee;
  const auto [it, fresh] = seen_.emplace(key, findings_.size());
  if (fresh)
    findings_.push_back(finding);
  else if (finding.severity < findings_[it->second].severity)  // reached from a region in this unit alone
    findings_[it->second] = finding;
}

void ReportBuilder::add(const NotAnalysed& function) {
  const std::string where = at_line(shown(function.place.file), function.place.line);
  const std::string text =
      where + ": " + (function.whole ? "" : function.function + "() was not analysed: ") + function.reason;
  if (function.region.empty()) {
    if (std::find(report_.coverage.not_checked.begin(), report_.coverage.not_checked.end(), text) ==
        report_.coverage.not_checked.end())
      report_.coverage.not_checked.push_back(text);
    return;
  }
  if (!function.whole) not_analysed_.insert(function.place);
  const std::string reached = function.whole ? "" : "; it is reached from " + function.region;
  const reports::FileSuppression* entry = accepted(function);
  if (entry || settings_.unproven == "warn") {
    report_.coverage.not_checked.push_back(
        text + reached + (entry ? "; accepted (" + entry->origin + "): " + entry->reason : ""));
    return;
  }
  reasons_.not_analysed({where, function.whole ? "" : function.function, function.reason,
                         function.remedy.empty()
                             ? "give its source the compile command that builds it, since -D and -I decide "
                               "what clang reads; if "
                               "it was reviewed by hand, accept it in a suppression file: unproven:" +
                                   function.function + "  REASON"
                             : function.remedy,
                         function.whole ? "" : function.region});
}

const reports::FileSuppression* ReportBuilder::accepted(const NotAnalysed& function) const {
  const std::string file = shown(function.place.file);
  for (const reports::FileSuppression& entry : entries_)
    if (entry.rule == reports::kUnproven &&
        (glob_match(entry.glob, function.function) || glob_match(entry.glob, file))) {
      used_entries_.insert(entry.origin);
      return &entry;
    }
  return nullptr;
}

void ReportBuilder::note_unused_entries() {
  for (const reports::FileSuppression& entry : entries_)
    if (entry.rule == reports::kUnproven && !used_entries_.contains(entry.origin))
      report_.coverage.not_checked.push_back(entry.origin + ": accepts '" + entry.glob +
                                             "' as not analysed, and nothing of that name was left out");
}

// That a wrapper was renamed must not turn a run without regions into a green one.
void ReportBuilder::require_regions() {
  for (const std::string& wanted : settings_.required) {
    const bool number = !wanted.empty() && wanted.find_first_not_of("0123456789") == std::string::npos;
    if (number && report_.coverage.regions.size() < std::stoul(wanted.substr(0, 9)))
      reasons_.add(
          "regions found: " + std::to_string(report_.coverage.regions.size()) + ", required: " + wanted,
          "see that the functions that begin captures are among the sources, or change --require-region");
    const auto is_it = [&](const auto& region) {
      return glob_match(wanted, region.first) ||
             std::any_of(region.second.begin(), region.second.end(),
                         [&](const std::string& function) { return glob_match(wanted, function); });
    };
    if (!number && std::none_of(functions_of_.begin(), functions_of_.end(), is_it))
      reasons_.add("no region begins in '" + wanted + "', which is required",
                   "see that the function still has that name, or change --require-region");
  }
}

bool ReportBuilder::is_its_callers(const std::string& region) const {
  const auto opened = opened_by_.find(region);
  return opened != opened_by_.end() && begun_through_.contains(opened->second) &&
         std::none_of(findings_.begin(), findings_.end(),
                      [&](const Finding& finding) { return finding.region == region; });
}

}  // namespace capgate::lint
