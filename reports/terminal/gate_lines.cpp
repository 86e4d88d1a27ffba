#include "reports/terminal/gate_lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/model/names.h"
#include "reports/model/verdict.h"
#include "reports/terminal/parts.h"

namespace capgate::reports {
namespace {

using namespace terminal;
constexpr size_t kShown = 10;

// The first ten, then how many more.
template <class List, class Line>
std::string some(const List& list, Line line) {
  std::string out;
  for (size_t i = 0; i < std::min(list.size(), kShown); ++i) out += line(*list[i]);
  if (list.size() > kShown) out += fmt::format("  … and {} more\n", list.size() - kShown);
  return out;
}

std::vector<const Violation*> deciding(const Report& report, Severity fail_on, bool with_baseline) {
  std::vector<const Violation*> found;
  for (const auto& violation : report.violations)
    if (violation.severity <= fail_on && !violation.suppressed &&
        (!with_baseline || violation.baseline == "new"))
      found.push_back(&violation);
  return found;
}

}  // namespace

GateDecision decide(const Report& report, Severity fail_on, const BaselineComparison& comparison,
                    const std::string& baseline_name, const TerminalOptions& options) {
  const Paint paint(options.color);
  const bool with_baseline = !baseline_name.empty();
  const Verdict verdict = with_baseline ? verdict_with_baseline(report, comparison) : verdict_of(report);
  const auto faults = deciding(report, fail_on, with_baseline);
  GateDecision decision;
  if (verdict == Verdict::fail || (verdict == Verdict::pass && !faults.empty()))
    decision.exit_code = kExitFail;
  else
    decision.exit_code = verdict == Verdict::inconclusive ? kExitInconclusive : kExitPass;

  std::string& out = decision.text;
  const std::string_view newly = with_baseline ? "new " : "";
  if (decision.exit_code == kExitFail) {
    const auto errors = static_cast<uint64_t>(std::count_if(
        faults.begin(), faults.end(), [](const Violation* v) { return v->severity == Severity::error; }));
    std::string count = errors ? counted(errors, std::string(newly) + "error") : "";
    if (faults.size() > errors)
      count += (errors ? ", " : "") + counted(faults.size() - errors, std::string(newly) + "warning");
    out = paint.red("gate: fail") + " - " + count + "\n";
  } else if (decision.exit_code == kExitInconclusive) {
    const Reason reason = report.reasons.empty() ? Reason{} : report.reasons.front();
    out = paint.yellow("gate: inconclusive") + " - " + clean(reason.text) + "\n";
    if (!reason.remedy.empty()) out += "  run: " + clean(reason.remedy) + "\n";
  } else {
    out = paint.green("gate: pass") +
          fmt::format(" - no {}error{}\n", newly, fail_on == Severity::warning ? " and no warning" : "");
  }
  out += some(faults, [&](const Violation& violation) {
    return fmt::format("  {} {} {}\n", name(violation.severity), clean(violation.rule),
                       place(violation.location));
  });
  if (with_baseline) {
    if (comparison.known_errors + comparison.known_warnings)
      out += fmt::format("known in {}: {}, {}\n", clean(baseline_name),
                         counted(comparison.known_errors, "error"),
                         counted(comparison.known_warnings, "warning"));
    if (!comparison.stale.empty()) {
      out += fmt::format("gone since {}, make the baseline anew:\n", clean(baseline_name));
      out += some(comparison.stale, [](const Violation& violation) {
        return fmt::format("  {} {}\n", clean(violation.rule), place(violation.location));
      });
    }
  }
  return decision;
}

}  // namespace capgate::reports
