#include "reports/verdict/verdict.h"

#include <algorithm>

#include "reports/verdict/causes.h"
#include "reports/verdict/reasons.h"

namespace capgate::reports {

bool is_error(const Violation& violation) {
  return violation.severity == Severity::error && !violation.suppressed;
}

Verdict verdict_of(const Report& report) {
  if (std::any_of(report.violations.begin(), report.violations.end(), is_error)) return Verdict::fail;
  return report.reasons.empty() ? Verdict::pass : Verdict::inconclusive;
}

Summary summary_of(const Report& report) {
  Summary summary;
  const Causes causes(report);
  for (const auto& violation : report.violations) {
    if (violation.suppressed) {
      ++summary.suppressed;
      continue;
    }
    if (causes.cause_of(violation))
      ++summary.symptoms;
    else if (violation.severity == Severity::error)
      ++summary.errors;
    else
      ++(violation.severity == Severity::warning ? summary.warnings : summary.notes);
    ++summary.by_rule[violation.rule];
  }
  return summary;
}

ExitCode exit_code(const Report& report, Severity fail_on, bool audited) {
  if (report.verdict == Verdict::fail) return kExitFail;
  if (report.verdict == Verdict::inconclusive) {
    const auto own = report.run ? program_error(*report.run) : std::nullopt;
    // A killed program did not end with an error of its own: what it would have done next is unknown.
    if (audited && own && !report.run->signal && report.reasons.size() == 1 && report.reasons.front() == *own)
      return kExitProgramError;
    return kExitInconclusive;
  }
  const bool warned =
      std::any_of(report.violations.begin(), report.violations.end(), [](const Violation& violation) {
        return violation.severity == Severity::warning && !violation.suppressed;
      });
  return fail_on == Severity::warning && warned ? kExitFail : kExitPass;
}

}  // namespace capgate::reports
