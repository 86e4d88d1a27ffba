#include "reports/verdict/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/counted.h"
#include "reports/catalogue/catalogue.h"
#include "reports/model/cuda_answer.h"
#include "reports/verdict/blemishes.h"
#include "reports/verdict/causes.h"
#include "reports/verdict/evidence.h"
#include "reports/verdict/graph_counts.h"
#include "reports/verdict/verdict.h"
#include "reports/verdict/verified.h"

namespace capgate::reports {
namespace {

void add(std::string& list, const std::string& part, std::string_view between = ", ") {
  if (!list.empty() && !part.empty()) list += between;
  list += part;
}

// A call that CUDA refused, or work that is in no graph, without an error: in a capture that a later one
// replaced, or whose graph nothing launches.
bool is_refused_or_left_out(const Violation& violation) {
  const Rule* rule = find_rule(violation.rule);
  // An update, an instantiation or a launch that CUDA refused.
  if (!violation.suppressed && violation.details.contains("refused")) return true;
  return !violation.suppressed && violation.phase == Phase::capture &&
         (was_refused(violation) || (rule && rule->if_captured == IfCaptured::wrong));
}

// What CUDA refused before the end of its capture: an eager run of the step shows what comes behind it.
bool died_at_a_call(const Report& report) {
  return std::any_of(report.violations.begin(), report.violations.end(), [](const Violation& violation) {
    return violation.severity == Severity::error && violation.phase == Phase::capture &&
           was_refused(violation) && !violation.details.contains("exception") &&
           (!violation.api || violation.api->find("EndCapture") == std::string::npos);
  });
}

std::string graphs(const Report& report) {
  const Coverage& coverage = report.coverage;
  std::string out = graphs_of(report);
  if (coverage.captures_failed > 0) out += ", " + counted(coverage.captures_failed, "capture") + " failed";
  if (coverage.replays == 0) return out + ", never launched";
  // Not each capture makes a graph of its own: some go into another's, or update an executable.
  const bool apart = !each_capture_is_a_graph(report);
  const std::string launched = apart ? executables_of(report) + " launched " : "launched ";
  return out + ", " + launched + (coverage.replays == 1 ? "once" : counted(coverage.replays, "time"));
}

// A capture died, and not only at a first attempt.
bool killed_a_capture_for_good(const Report& report) {
  return report.coverage.captures_failed > 0 &&
         std::any_of(report.violations.begin(), report.violations.end(), [](const Violation& violation) {
           return is_error(violation) && killed_a_capture(violation);
         });
}

std::string marked_steps(const Coverage& coverage) {
  std::string out;
  size_t steps = 0;
  for (const RegionCoverage& region : coverage.regions) {
    if (region.source == RegionSource::lint || region.occurrences < 2) continue;
    if (++steps == 1)
      out = fmt::format("marked step \"{}\" ran {}", region.name, counted(region.occurrences, "time"));
  }
  return steps > 1 ? out + fmt::format(" and {} more did", steps - 1) : out;
}

std::string sources(const Coverage& coverage) {
  const auto regions = static_cast<uint64_t>(
      std::count_if(coverage.regions.begin(), coverage.regions.end(),
                    [](const RegionCoverage& region) { return region.source == RegionSource::lint; }));
  const std::string all =
      counted(*coverage.files_parsed, "file") + " parsed with " + counted(regions, "region");
  if (!coverage.changed) return all;
  if (coverage.changed->in_reach.empty())
    return fmt::format("{}, nothing in them that differs from {} is in a region's reach", all,
                       coverage.changed->revision);
  return fmt::format("{}, judged where they differ from {}", all, coverage.changed->revision);
}

}  // namespace

Claim what_was_proved(const Report& report) {
  const Coverage& coverage = report.coverage;
  const bool eager = !has_graph(report) && coverage.kind == CoverageKind::eager;
  Claim claim;
  if (has_graph(report)) {
    const std::string of = coverage.captures_completed > 0 ? "capture" : "built graph";
    const bool verified = all_is_verified(report);
    claim.scope = of + (verified ? linted(report) ? ", replays" : " and replays" : "") +
                  (linted(report) ? " and source"
                   : verified     ? ""
                                  : " only");
    claim.text = graphs(report);
  } else if (eager) {
    claim.scope = linted(report) ? "eager step and source" : "eager step only";
    claim.text = marked_steps(coverage);
  } else if (linted(report)) {
    claim.scope = "source only";
  } else {
    return claim;
  }
  if (linted(report)) add(claim.text, sources(coverage), "; ");
  const bool spotless =
      std::none_of(report.violations.begin(), report.violations.end(), is_refused_or_left_out);
  if (claim.scope == "source only" && coverage.changed && coverage.changed->in_reach.empty()) return claim;
  const std::string nothing = report.summary.suppressed > 0 ? "nothing else " : "nothing ";
  const std::string clean =
      has_graph(report) ? nothing + "refused or left out"
      : linted(report) && !ran(report)
          ? nothing + "that a capture refuses or leaves out"
          : "no error in its calls" +
                std::string(report.summary.suppressed > 0 ? " but what is allowed" : "") +
                ", its streams not judged";
  add(claim.text, known_errors(report) ? "no new error" : spotless ? clean : "no error");
  add(claim.text, blemishes(report));
  return claim;
}

namespace {

bool none_counts(const Report& report) {
  const auto& replay = report.coverage.replay;
  return replay && !replay->verified.empty() &&
         std::none_of(replay->verified.begin(), replay->verified.end(),
                      [](const VerifiedReplay& verified) { return verified.result == ReplayResult::equal; });
}

}  // namespace

NotProved what_was_not_proved(const Report& report) {
  if (const auto left = left_by_known_errors(report)) return *left;
  if (has_graph(report) && report.coverage.replays == 0)
    return {"anything about a replay: no graph was launched", ""};
  if (has_graph(report) && !killed_a_capture_for_good(report) && all_is_verified(report))
    return {"that replays are right for other inputs than those that were verified", ""};
  if (std::any_of(report.violations.begin(), report.violations.end(),
                  [](const Violation& violation) { return violation.rule == "replay-mismatch"; }))
    return {"that nothing else differs: a verification follows each output up to its first difference", ""};
  if (has_graph(report) && !killed_a_capture_for_good(report) && none_counts(report))
    return {"that a replay computes what the eager step does: no verification of it counts", ""};
  if (has_graph(report) && !killed_a_capture_for_good(report))
    return {
        std::string("that a replay computes what the eager step does; a test shows it with ") +
            (report.environment.python ? "capgate_marks.verify_replay" : "verify_replay of capgate/verify.h"),
        ""};
  if (report.coverage.kind == CoverageKind::eager)
    return {"that the step captures: no graph was captured or launched",
            "capgate audit -- PROGRAM, once it captures the step"};
  if (report.coverage.captures_failed > 0)
    return died_at_a_call(report) ? NotProved{"that nothing after the refused call is refused as well",
                                              "capgate audit --region 'STEP*' -- PROGRAM, where STEP is the "
                                              "NVTX range around the "
                                              "step run eagerly"}
                                  : NotProved{"anything about the graph of the step: its capture failed",
                                              "capgate audit -- PROGRAM, once the fault is repaired"};
  if (launched_unseen_graphs(report))
    return {"anything about the graphs that were launched: no work was seen in them",
            "capgate audit -- PROGRAM, from the program's start"};
  if (report.coverage.captures_empty > 0)
    return {"anything about the graph of the step: its capture holds no work",
            "capgate audit -- PROGRAM, once the fault is repaired"};
  if (ran(report))
    return {"anything about a step: none was captured, and no marked one was seen twice",
            "capgate audit --region 'STEP*' -- PROGRAM, where STEP is the NVTX range around the step"};
  return {"that the step captures: nothing was run", "capgate audit -- PROGRAM, on a machine with a GPU"};
}

}  // namespace capgate::reports
