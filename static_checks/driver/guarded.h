// Findings behind tests of host values: what their messages say, and what an assumption or the whole program
// rules out.
#pragma once

#include <string>
#include <vector>

#include "reports/model/report.h"
#include "static_checks/driver/assumptions.h"
#include "static_checks/model/finding.h"
#include "static_checks/model/summary.h"

namespace capgate::lint {

class Guarded {
 public:
  // `whole`: the units are all of a program.
  Guarded(std::vector<Assumption> assumptions, const std::vector<UnitSummary>& units, bool whole);

  // Settles the severity and says in the message on what it depends.
  void settle(Finding& finding) const;

  // Notes on assumptions that ruled nothing out.
  void report_unused(reports::Report& report) const;

 private:
  std::vector<Assumption> assumptions_;
  std::vector<std::string> set_;  // ids of what something sets, ascending
  bool knows_all_ = false;        // nothing outside these units sets anything
};

}  // namespace capgate::lint
