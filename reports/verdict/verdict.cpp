#include "reports/verdict/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <set>

#include "base/counted.h"
#include "reports/model/cuda_answer.h"
#include "reports/model/names.h"
#include "reports/verdict/causes.h"
#include "reports/verdict/claims.h"

namespace capgate::reports {
namespace {

bool counts(const Violation& violation, Severity severity) {
  return violation.severity == severity && !violation.suppressed;
}

std::string program_name(const Run& run) {
  return run.argv.empty() ? "the program" : run.argv.front();
}

}  // namespace

Verdict verdict_of(const Report& report) {
  const bool failed =
      std::any_of(report.violations.begin(), report.violations.end(),
                  [](const Violation& violation) { return counts(violation, Severity::error); });
  if (failed) return Verdict::fail;
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

namespace {

std::string ends_of(std::string_view name) {
  return std::string(name.substr(0, 60));
}

// What is wrong with one violation, or with one of them beside another.
std::optional<std::string> impossible(const std::vector<Violation>& violations) {
  std::set<std::string_view> ids;
  for (const Violation& violation : violations) {
    if (!violation.id.empty() && !ids.insert(violation.id).second)
      return fmt::format("two of its violations have the id \"{}\"", ends_of(violation.id));
    if (violation.per_step && violation.per_step->steps == 0)
      return fmt::format("violation \"{}\" costs something per step, of 0 steps", ends_of(violation.id));
  }
  return std::nullopt;
}

// The rule whose count is not what the violations come to.
std::optional<std::string> miscounted(const Summary& said, const Summary& holds) {
  std::set<std::string> rules;
  for (const auto* of : {&said.by_rule, &holds.by_rule})
    for (const auto& [rule, count] : *of) rules.insert(rule);
  const auto count = [](const Summary& of, const std::string& rule) {
    const auto at = of.by_rule.find(rule);
    return at == of.by_rule.end() ? 0 : at->second;
  };
  for (const std::string& rule : rules)
    if (count(said, rule) != count(holds, rule))
      return fmt::format("its summary counts {} of {}, and there are {}", count(said, rule), ends_of(rule),
                         count(holds, rule));
  return std::nullopt;
}

}  // namespace

std::optional<std::string> contradiction(const Report& report) {
  if (const auto wrong = impossible(report.violations)) return "contradicts itself: " + *wrong;
  const auto counts_of = [](const Summary& of) {
    const std::string text =
        fmt::format("{}, {}, {} and {} suppressed", counted(of.errors, "error"),
                    counted(of.warnings, "warning"), counted(of.notes, "note"), grouped(of.suppressed));
    return of.symptoms ? text + " with " + counted(of.symptoms, "symptom") : text;
  };
  const Summary holds = summary_of(report);
  if (counts_of(holds) != counts_of(report.summary))
    return fmt::format("contradicts itself: its summary counts {}, and there are {}",
                       counts_of(report.summary), counts_of(holds));
  if (const auto wrong = miscounted(report.summary, holds)) return "contradicts itself: " + *wrong;
  const Verdict verdict = verdict_of(report);
  if (verdict != report.verdict)
    return fmt::format("contradicts itself: its verdict is {}, and its contents make it {}",
                       name(report.verdict), name(verdict));
  return std::nullopt;
}

std::optional<Reason> program_error(const Run& run) {
  if (run.stopped_by_user) return std::nullopt;
  if (run.signal)
    return Reason{
        fmt::format("{} died of signal {} ({})", program_name(run), *run.signal, ::strsignal(*run.signal)),
        "make the program end well on its own, then audit it again"};
  if (run.exit_code.value_or(0) != 0)
    return Reason{fmt::format("{} ended with exit code {}", program_name(run), *run.exit_code),
                  "make the program end with exit code 0 on its own, then audit it again"};
  return std::nullopt;
}

namespace {

// A capture that died ends most programs: the report names what killed it, and that is what to repair. A
// crash is another matter.
bool may_follow_from_a_death(const Report& report) {
  return report.run->signal.value_or(SIGABRT) == SIGABRT && report.coverage.captures_failed > 0 &&
         std::any_of(report.violations.begin(), report.violations.end(), [](const Violation& violation) {
           return counts(violation, Severity::error) && killed_a_capture(violation);
         });
}

// Adds how the program ended, once: an older report says it without the capture, and what killed that may be
// allowed by now.
void add_end_of_program(Report& report, const Reason& own) {
  const Reason after{own.text + ", after a capture of it had died",
                     "repair what killed the capture, then audit the program again"};
  auto& reasons = report.reasons;
  const bool follows = may_follow_from_a_death(report);
  if (!follows) std::erase(reasons, after);
  const bool failed =
      std::any_of(report.violations.begin(), report.violations.end(),
                  [](const Violation& violation) { return counts(violation, Severity::error); });
  const Reason beside{own.text, "repair the errors that the report has, then audit the program again"};
  if (!failed) std::erase(reasons, beside);
  for (const Reason& known : reasons)
    if (known == own || known == after || known == beside) return;
  reasons.push_back(follows ? after : failed ? beside : own);
}

}  // namespace

const Reason& no_region() {
  static const Reason kReason{
      "nothing that was linted contains a region: no source captures, marks a step, or has a range that "
      "--region "
      "names",
      "capgate lint -p BUILD, over the sources that capture; mark a step that is not captured yet with "
      "capgate::region, or name its NVTX range: --region GLOB"};
  return kReason;
}

bool has_graph(const Report& report) {
  return report.coverage.captures_completed > 0 ||
         std::any_of(report.captures.begin(), report.captures.end(), [](const Capture& graph) {
           return graph.mode == kBuiltMode && graph.result == "completed" && graph.replays > 0;
         });
}

bool launched_unseen_graphs(const Report& report) {
  const Coverage& coverage = report.coverage;
  return coverage.replays > 0 && coverage.captures_empty == 0 && coverage.captures_failed == 0 &&
         !has_graph(report);
}

bool is_eager_alone(const Report& report) {
  // Whatever kind the report calls itself: only a graph, or a lint, is another evidence.
  return !has_graph(report) && report.coverage.kind != CoverageKind::source;
}

std::optional<Reason> missing_proof(const Report& report) {
  const Coverage& coverage = report.coverage;
  for (const auto& process : coverage.processes)
    if (process.events_dropped > 0)
      return Reason{fmt::format("{} of process {} {} dropped", counted(process.events_dropped, "event"),
                                process.pid, process.events_dropped == 1 ? "was" : "were"),
                    "capgate audit --trace DIR -- PROGRAM, where DIR has room for the whole trace"};
  if (coverage.kind == CoverageKind::capture || coverage.kind == CoverageKind::eager) {
    // What lint calls a region is a place in the source and no occurrence of a step.
    const auto seen_twice = [](const RegionCoverage& region) {
      return region.source != RegionSource::lint && region.occurrences >= 2;
    };
    if (has_graph(report) || std::any_of(coverage.regions.begin(), coverage.regions.end(), seen_twice))
      return std::nullopt;
  }
  if (coverage.kind == CoverageKind::source) {
    if (coverage.files_failed.value_or(0) > 0)
      return Reason{counted(*coverage.files_failed, "file") + " could not be parsed",
                    "see the errors of `capgate lint -p BUILD` and point it at a build folder that compiles"};
    if (coverage.files_parsed.value_or(0) > 0) {
      if (std::any_of(coverage.regions.begin(), coverage.regions.end(),
                      [](const RegionCoverage& region) { return region.source == RegionSource::lint; }))
        return std::nullopt;
      return no_region();
    }
    return Reason{"no file was parsed", "capgate lint -p BUILD, where BUILD holds compile_commands.json"};
  }
  if (launched_unseen_graphs(report))
    return Reason{
        fmt::format(
            "graphs were launched {}, and no work was seen in them: no capture of them completed, and "
            "the trace has no kernel or copy that was put into them",
            coverage.replays == 1 ? "once" : counted(coverage.replays, "time")),
        "capgate audit -- PROGRAM, from the program's start, where it launches graphs with work in them (a "
        "trace of an "
        "older capgate does not have what was put in)"};
  if (coverage.captures_failed > 0)
    return Reason{"a capture failed, none completed, and no marked region was seen twice",
                  what_was_not_proved(report).command};
  const bool judged = coverage.captures_empty > 0 || !report.violations.empty();
  return Reason{
      fmt::format("{}, and no marked region was seen twice",
                  coverage.captures_empty > 0 ? "no capture completed with work in it"
                  : judged                    ? "no capture completed"
                                              : "nothing was judged: no capture completed"),
      coverage.captures_empty > 0
          ? what_was_not_proved(report).command
          : "capgate audit --region 'STEP*' -- PROGRAM, where STEP is the NVTX range around the step"};
}

namespace {

// A node that was added by hand keeps the address of ordinary memory: nothing shows that the memory is there,
// and nothing that it is gone.
const Reason& unknown_memory() {
  static const Reason kReason{
      "a copy node that was added or changed by hand names ordinary host memory, which is not shown to be "
      "there at each launch",
      "give the node pinned memory that lives as long as the graph, then: capgate audit -- PROGRAM"};
  return kReason;
}

bool names_unknown_memory(const Violation& violation) {
  const auto at_launch = violation.details.find("at each launch");
  return !violation.suppressed && violation.severity == Severity::warning &&
         at_launch != violation.details.end() && at_launch->second == "not known";
}

}  // namespace

void add_missing_reasons(Report& report) {
  const auto add = [&](const Reason& reason) {
    if (std::find(report.reasons.begin(), report.reasons.end(), reason) == report.reasons.end())
      report.reasons.push_back(reason);
  };
  if (report.run)
    if (const auto own = program_error(*report.run)) add_end_of_program(report, *own);
  if (std::any_of(report.violations.begin(), report.violations.end(), names_unknown_memory))
    add(unknown_memory());
  if (report.reasons.empty())
    if (const auto reason = missing_proof(report)) add(*reason);
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
      std::any_of(report.violations.begin(), report.violations.end(),
                  [](const Violation& violation) { return counts(violation, Severity::warning); });
  return fail_on == Severity::warning && warned ? kExitFail : kExitPass;
}

}  // namespace capgate::reports
