// From what units and the second phase found to a report.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reports/model/report.h"
#include "reports/suppressions/suppressions.h"
#include "static_checks/analysis.h"
#include "static_checks/changes/changes.h"
#include "static_checks/driver/changed_code.h"
#include "static_checks/driver/folded.h"
#include "static_checks/driver/guarded.h"
#include "static_checks/driver/plan.h"
#include "static_checks/driver/reasons.h"
#include "static_checks/driver/settings.h"
#include "static_checks/driver/source_lines.h"
#include "static_checks/worker/job.h"

namespace capgate::lint {

class ReportBuilder {
 public:
  ReportBuilder(const LintSettings& settings, const Plan& plan, std::string root);

  void add_unreachable(const Unreachable& file);
  // Keeps what the report and the second phase need of the reply; the rest may go.
  void add_unit(const UnitCommand& command, Reply reply);
  void add_links(const LinkResult& links);
  void add_reach(RegionReach reach) { code_.add(std::move(reach)); }

  const std::vector<UnitSummary>& summaries() const { return summaries_; }

  // Calls that regions reach and that were not analysed, accepted or not: each place once.
  uint64_t calls_not_analysed(const LinkResult& links) const;

  // Entries for what was not analysed count from here on; called before anything is added.
  void accept(const std::vector<reports::FileSuppression>& entries) { entries_ = entries; }

  // `changes`: only what these lines bear on is kept.
  reports::Report finish(const std::vector<reports::FileSuppression>& entries,
                         const std::optional<Changes>& changes);

 private:
  void add(const Finding& finding);
  void add(const NotAnalysed& function);
  // Why it is acceptable that it was not analysed; null: nobody says so.
  const reports::FileSuppression* accepted(const NotAnalysed& function) const;
  void note_unused_entries();
  void require_regions();
  std::string shown(const std::string& path) const;
  void add_coverage(const std::optional<Changes>& changes);
  void add_violations(const Guarded& guarded, const std::optional<Changes>& changes);
  reports::Violation violation_of(const Finding& finding, Macros& macros);
  void leave_out_headers();
  void suppress(const std::vector<reports::FileSuppression>& entries, bool whole);
  // Whether the region is opened for callers in other units, at whose calls it is counted.
  bool is_its_callers(const std::string& region) const;

  const LintSettings& settings_;
  const Plan& plan_;
  std::string root_;
  reports::Report report_;
  std::vector<Finding> findings_;
  std::map<std::string, size_t> seen_;  // a finding in a header comes once for each unit
  std::vector<UnitSummary> summaries_;
  std::set<std::string> user_files_, parsed_files_, failed_files_;
  ChangedCode code_;
  SourceLines lines_;
  std::map<std::string, uint64_t> regions_;
  std::map<std::string, std::set<std::string>> functions_of_;  // in which the region begins
  std::vector<reports::FileSuppression> entries_;
  mutable std::set<std::string> used_entries_;    // by origin
  std::map<std::string, std::string> opened_by_;  // region's name: Region::opened_by
  std::set<std::string> begun_through_;           // Region::begun_through of all units
  Reasons reasons_;
  std::set<Place> not_analysed_;  // what a region reaches
};

}  // namespace capgate::lint
