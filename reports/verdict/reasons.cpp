#include "reports/verdict/reasons.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "base/counted.h"
#include "reports/model/cuda_answer.h"
#include "reports/verdict/causes.h"
#include "reports/verdict/claims.h"
#include "reports/verdict/compared.h"
#include "reports/verdict/evidence.h"
#include "reports/verdict/verdict.h"

namespace capgate::reports {
namespace {

std::string program_name(const Run& run) {
  return run.argv.empty() ? "the program" : run.argv.front();
}

}  // namespace

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
           return is_error(violation) && killed_a_capture(violation);
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
  const bool failed = std::any_of(report.violations.begin(), report.violations.end(), is_error);
  const Reason beside{own.text, "repair the errors that the report has, then audit the program again"};
  if (!failed) std::erase(reasons, beside);
  for (const Reason& known : reasons)
    if (known == own || known == after || known == beside) return;
  if (follows)
    reasons.push_back(after);
  else
    reasons.push_back(failed ? beside : own);
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
  const char* what =
      report.violations.empty() ? "nothing was judged: no capture completed" : "no capture completed";
  if (coverage.captures_empty > 0) what = "no capture completed with work in it";
  return Reason{
      fmt::format("{}, and no marked region was seen twice", what),
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
  for (const Reason& reason : unanswered_differences(report)) add(reason);
  if (report.reasons.empty())
    if (const auto reason = missing_proof(report)) add(*reason);
}

}  // namespace capgate::reports
