#include "reports/verdict/blemishes.h"

#include <vector>

#include "base/counted.h"
#include "reports/verdict/failure.h"

namespace capgate::reports {

uint64_t known_errors(const Report& report) {
  return report.compared ? report.compared->known_errors : 0;
}

std::string blemishes(const Report& report) {
  std::string out;
  const auto add = [&](uint64_t count, const char* noun) {
    if (count > 0) out += (out.empty() ? "" : ", ") + counted(count, noun);
  };
  add(known_errors(report), "known error");
  add(report.summary.warnings, "warning");
  add(report.summary.notes, "note");
  add(report.summary.suppressed, "allowed fault");
  return out;
}

std::optional<NotProved> left_by_known_errors(const Report& report) {
  const uint64_t count = known_errors(report);
  if (report.verdict != Verdict::pass || count == 0) return std::nullopt;
  std::vector<const Violation*> known;
  for (const Violation& violation : report.violations)
    if (violation.severity == Severity::error && !violation.suppressed && report.knows(violation))
      known.push_back(&violation);
  const std::string left = count == 1 ? "a known error is left" : grouped(count) + " known errors are left";
  const auto failure = failure_of(report, known);
  if (!failure) return NotProved{"that the step is right: " + left, ""};
  if (failure->kind == FailureKind::graph_is_wrong) return NotProved{"that replays are right: " + left, ""};
  return NotProved{(failure->observed ? "that each capture completes: " : "that the step captures: ") + left,
                   ""};
}

}  // namespace capgate::reports
