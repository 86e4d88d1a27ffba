#include "reports/terminal/gate_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "reports/model/names.h"
#include "reports/terminal/commands.h"
#include "reports/terminal/parts.h"
#include "reports/verdict/causes.h"
#include "reports/verdict/claims.h"
#include "reports/verdict/compared.h"
#include "reports/verdict/evidence.h"
#include "reports/verdict/failure.h"
#include "reports/verdict/reasons.h"
#include "reports/verdict/verdict.h"
#include "reports/verdict/verified.h"
#include "reports/verdict/watched.h"

namespace capgate::reports {
namespace {

using namespace terminal;
std::vector<const Violation*> deciding(const Report& report, Severity fail_on, bool with_baseline) {
  std::vector<const Violation*> found;
  for (const auto& violation : report.violations)
    if (violation.severity <= fail_on && !violation.suppressed &&
        (!with_baseline || violation.baseline == BaselineState::new_since))
      found.push_back(&violation);
  return found;
}

// No capture completed: that the step captures is what eager evidence cannot show.
Reason only_eager(const GateOptions& gate) {
  return {"no graph was captured: the audit saw a marked step run eagerly, and nothing else",
          "capgate audit -- PROGRAM, once it captures the step; or accept the eager evidence: " +
              gate_command(gate, {"--allow-eager"})};
}

// The faults that decide: causes, and how many symptoms each of them has among those faults.
struct Deciding {
  std::vector<const Violation*> causes;
  std::map<const Violation*, uint64_t> symptoms;
};

Deciding by_cause(const Report& report, const std::vector<const Violation*>& faults) {
  const Causes causes(report);
  const std::set<const Violation*> decide(faults.begin(), faults.end());
  Deciding out;
  for (const Violation* fault : faults) {
    const Violation* cause = causes.cause_of(*fault);
    if (cause && decide.contains(cause))
      ++out.symptoms[cause];
    else
      out.causes.push_back(fault);
  }
  return out;
}

std::string failed_line(const Report& report, const Deciding& deciding, bool with_baseline,
                        const Paint& paint) {
  const std::string newly = with_baseline ? "new " : "";
  const auto& faults = deciding.causes;
  const auto errors = static_cast<uint64_t>(std::count_if(
      faults.begin(), faults.end(), [](const Violation* v) { return v->severity == Severity::error; }));
  std::string count = errors ? counted(errors, newly + "error") : "";
  if (faults.size() > errors)
    count += (errors ? ", " : "") + counted(faults.size() - errors, newly + "warning");
  uint64_t symptoms = 0;
  for (const auto& [cause, number] : deciding.symptoms) symptoms += number;
  if (symptoms) count += " with " + counted(symptoms, "symptom");
  if (errors == 0) count += ", by --fail-on warning";
  const auto failure = failure_of(report, faults);
  const bool known = failure && failure->at->severity == Severity::error;
  return paint.red("gate: fail") +
         (known ? " - " + failure_text(*failure, place(failure->at->location)) : "") + " - " + count + "\n";
}

// So many causes have their line of source: a log alone shows what to change first.
constexpr size_t kWithSource = 3;

// What happened, and the fix under the first of the faults that share it.
std::string fault_lines(const Deciding& deciding) {
  std::set<std::string> told;
  size_t listed = 0;
  return some(deciding.causes, [&](const Violation& violation) {
    std::string out = fmt::format("  {} {} {}", name(violation.severity), head_of(clean(violation.rule)),
                                  place(violation.location));
    if (const auto symptoms = deciding.symptoms.find(&violation); symptoms != deciding.symptoms.end())
      out += ", with " + counted(symptoms->second, "symptom");
    out += "\n    " + sentence(violation.message) + "\n";
    if (++listed <= kWithSource)
      if (const std::string line = source_lines(violation, Paint(false), 0); !line.empty())
        out += "  " + line;
    if (!violation.hint.empty() && told.insert(violation.hint).second)
      out += "    fix: " + sentence(violation.hint) + "\n";
    return out;
  });
}

// What the faults and reasons alone decide.
ExitCode by_faults(Verdict verdict, bool any_fault, const std::optional<Reason>& unproved) {
  if (verdict == Verdict::fail || (verdict == Verdict::pass && any_fault)) return kExitFail;
  return verdict == Verdict::inconclusive || unproved ? kExitInconclusive : kExitPass;
}

// What keeps a passing report from passing this gate.
std::optional<Reason> unproved(const Report& report, const GateOptions& gate) {
  if (is_eager_alone(report) && !gate.allow_eager) return only_eager(gate);
  if (gate.require_compared) return missing_comparison(report, gate.buckets);
  return gate.require_replay ? missing_verification(report, gate.buckets) : std::nullopt;
}

// With the numbers beside them: a metric that got worse fails, and one that was lost proves nothing.
ExitCode with_ratchet(ExitCode own, const std::optional<Ratchet>& ratchet) {
  if (own == kExitFail || (ratchet && !ratchet->worse.empty())) return kExitFail;
  return own == kExitInconclusive || (ratchet && !ratchet->lost.empty()) ? kExitInconclusive : kExitPass;
}

std::string inconclusive_lines(const Reason& reason, const Paint& paint) {
  std::string out = paint.yellow("gate: inconclusive") + " - " + sentence(reason.text) + "\n";
  if (!reason.remedy.empty()) out += "  to do: " + sentence(reason.remedy) + "\n";
  return out;
}

std::string more_lines(const GateOptions& gate) {
  return fmt::format("  more: {}; in a browser: {}\n", show_command(gate.baseline_name, gate.report_name),
                     view_command(gate.baseline_name, gate.report_name));
}

// What is in the report and does not fail this gate, with the reason: a pass is not read as "nothing found".
std::string not_counted(const Report& report, const GateOptions& gate) {
  std::string out;
  const auto add = [&](uint64_t count, const char* noun, const std::string& why) {
    if (count > 0) out += (out.empty() ? "  not counted: " : "; ") + counted(count, noun) + why;
  };
  const Compared known = report.compared.value_or(Compared{});
  const std::string in = ", known in " + clean(gate.baseline_name);
  add(known.known_errors, "error", in);
  add(known.known_warnings, "warning", in);
  if (gate.fail_on != Severity::warning)
    add(report.compared ? known.new_warnings : report.summary.warnings, "warning",
        ", without --fail-on warning");
  add(report.summary.suppressed, "allowed fault", "");
  return out.empty() ? "" : out + "\n";
}

}  // namespace

GateDecision decide(const Report& written, const GateOptions& gate, const BaselineComparison& comparison,
                    const TerminalOptions& options) {
  Report report = written;
  add_missing_reasons(report);
  const Paint paint(options.color);
  const bool with_baseline = !gate.baseline_name.empty();
  const Verdict verdict = with_baseline ? verdict_with_baseline(report, comparison) : verdict_of(report);
  const auto faults = deciding(report, gate.fail_on, with_baseline);
  const auto missing = unproved(report, gate);
  const ExitCode own = by_faults(verdict, !faults.empty(), missing);
  GateDecision decision;
  decision.exit_code = with_ratchet(own, gate.ratchet);

  std::string& out = decision.text;
  if (own == kExitFail) {
    out = failed_line(report, by_cause(report, faults), with_baseline, paint);
  } else if (decision.exit_code == kExitFail) {
    out = paint.red("gate: fail") + " - " + counted(gate.ratchet->worse.size(), "number") +
          " worse than in " + clean(gate.ratchet->file) + "\n";
  } else if (own == kExitInconclusive) {
    const Reason reason = verdict == Verdict::pass ? *missing
                          : report.reasons.empty() ? Reason{}
                                                   : report.reasons.front();
    out = inconclusive_lines(reason, paint);
  } else if (decision.exit_code == kExitInconclusive) {
    out = inconclusive_lines({clean(gate.ratchet->file) + " has numbers that this report does not have", ""},
                             paint);
  } else {
    const std::string scope = what_was_proved(report).scope;
    out = paint.green("gate: pass") + (scope.empty() ? "" : " (" + scope + ")") +
          fmt::format(" - no {}error{}{}\n", with_baseline ? "new " : "",
                      gate.fail_on == Severity::warning ? " and no warning" : "",
                      gate.ratchet ? ", no number worse than in " + clean(gate.ratchet->file) : "");
  }
  out += fault_lines(by_cause(report, faults));
  out += not_counted(report, gate);
  if (own == kExitFail) out += more_lines(gate);
  if (gate.ratchet) out += ratchet_lines(*gate.ratchet);
  out += covers(report, options.all) + not_checked_line(report, options.all);
  if (decision.exit_code == kExitPass) {
    const NotProved open = what_was_not_proved(report);
    out += "  not proved: " + open.text + (open.command.empty() ? "" : "; run: " + open.command) +
           what_was_seen(report) + "\n";
    if (gate.require_compared)
      out += "  weaker than --require replay: values were compared, results were not\n";
  }
  if (with_baseline) out += baseline_lines(comparison, gate);
  out = without_commands(out);
  return decision;
}

}  // namespace capgate::reports
