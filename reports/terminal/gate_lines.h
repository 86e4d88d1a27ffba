// What `capgate gate` says: the verdict, and with a baseline what is new, known and gone.
#pragma once

#include <string>

#include "reports/model/baseline.h"
#include "reports/model/report.h"
#include "reports/terminal/terminal.h"

namespace capgate::reports {

struct GateOptions {
  Severity fail_on = Severity::error;
  bool allow_eager = false;   // a marked eager step may pass without any graph
  std::string report_name;    // for the commands that it names
  std::string baseline_name;  // empty: without one; else the report's violations are already marked
};

struct GateDecision {
  int exit_code;
  std::string text;
};

GateDecision decide(const Report& report, const GateOptions& gate, const BaselineComparison& comparison,
                    const TerminalOptions& options);

}  // namespace capgate::reports
