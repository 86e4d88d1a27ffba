// From faults and reasons to a verdict and an exit code.
#pragma once

#include "base/exit_code.h"
#include "reports/model/report.h"

namespace capgate::reports {

// It makes a report fail: nobody accepted it.
bool is_error(const Violation& violation);

// Fail if there is an unsuppressed error; else inconclusive if there is a reason; else pass.
Verdict verdict_of(const Report& report);

// What the violations add up to.
Summary summary_of(const Report& report);

// Warnings count only under --fail-on warning. `audited`: 3 when the program's own error is the only reason.
ExitCode exit_code(const Report& report, Severity fail_on = Severity::error, bool audited = false);

}  // namespace capgate::reports
