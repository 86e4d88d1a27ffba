// What `capgate gate` says: the verdict, and with a baseline what is new, known and gone.
#pragma once

#include <string>

#include "reports/model/baseline.h"
#include "reports/model/report.h"
#include "reports/terminal/terminal.h"

namespace capgate::reports {

struct GateDecision {
  int exit_code;
  std::string text;
};

// `baseline_name` empty: without one. The report's violations are already marked then.
GateDecision decide(const Report& report, Severity fail_on, const BaselineComparison& comparison,
                    const std::string& baseline_name, const TerminalOptions& options);

}  // namespace capgate::reports
