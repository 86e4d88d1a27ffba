// What `capgate gate` says: the verdict, and with a baseline what is new, known and gone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/baseline/baseline_file.h"
#include "reports/baseline/compare.h"
#include "reports/model/report.h"
#include "reports/ratchet/ratchet.h"
#include "reports/terminal/terminal.h"

namespace capgate::reports {

struct GateOptions {
  Severity fail_on = Severity::error;
  bool allow_eager = false;       // a marked eager step may pass without any graph
  bool require_replay = false;    // every graph must be verified, of these buckets where some are named
  bool require_compared = false;  // or at least compared with its eager step
  std::vector<std::string> buckets;
  std::string report_name;    // for the commands that it names
  std::string baseline_name;  // empty: without one; else the report's violations are already marked
  bool baseline_is_report = true;
  std::vector<const BaselineEntry*> ended;  // entries of the baseline that no longer hold, and are needed
  std::optional<Ratchet> ratchet;           // against the numbers of --no-worse-than
};

struct GateDecision {
  int exit_code;
  std::string text;
};

// "known.txt: 3 faults kept, 1 added, 2 dropped"
std::string update_line(const std::string& file, const BaselineUpdate& update);

GateDecision decide(const Report& report, const GateOptions& gate, const BaselineComparison& comparison,
                    const TerminalOptions& options);

}  // namespace capgate::reports
