#include "detector/analysis/run/attachment.h"

#include <algorithm>
#include <string>

#include "base/counted.h"
#include "detector/analysis/run/process_facts.h"

namespace capgate::analysis {
namespace {

using reports::Report;

// Subscribed is not enough: a CUPTI older than the GPU subscribes and stays silent. That is a matter of the
// library and the machine: what another process of the run proved for the same library holds for a process
// that made no call of its own, as workers that only initialise CUDA do.
bool is_attached(const seal::SealedTrace& trace, const trace::ProcessTrace& process) {
  if (process.fact("cupti.state") != "attached") return false;
  if (!process.fact("cupti.proof").empty()) return true;
  return !process.fact("cupti.path").empty() && process.fact("gave-up").empty() && process.dropped == 0 &&
         std::any_of(trace.processes.begin(), trace.processes.end(), [&](const auto& other) {
           return !other.trace.fact("cupti.proof").empty() &&
                  other.trace.fact("cupti.path") == process.fact("cupti.path");
         });
}

std::string why_not_attached(const trace::ProcessTrace& process) {
  if (process.fact("cupti.state") == "attached") return "no callback arrived after subscribing";
  for (const auto key : {"cupti.error", "gave-up"})
    if (!process.fact(key).empty()) return std::string(process.fact(key));
  return "CUPTI is unavailable";
}

}  // namespace

void describe_attachment(const seal::SealedTrace& trace, Report& report) {
  constexpr std::string_view kHeld = "held-by:";
  auto& coverage = report.coverage;
  coverage.cupti = trace.processes.empty() ? "unavailable" : "attached";
  for (const auto& process : trace.processes) {
    const auto& t = process.trace;
    reports::ProcessCoverage seen;
    seen.pid = t.pid;
    seen.rank = whole_number(t.fact("rank"));
    seen.argv0 = t.fact("argv0");
    seen.attached = is_attached(trace, t);
    seen.events = t.events;
    seen.events_dropped = t.dropped;
    coverage.processes.push_back(seen);

    const std::string state(t.fact("cupti.state"));
    if (state.starts_with(kHeld)) {
      const std::string holder = state.substr(kHeld.size());
      coverage.cupti = state;
      report.reasons.push_back(
          {process_name(t) + ": CUPTI is held by " + (holder.empty() ? "another tool" : holder) +
               ", so the detector saw nothing",
           "run it without " + (holder.empty() ? "the other tool" : holder) + ": capgate audit -- PROGRAM"});
    } else if (!seen.attached) {
      if (coverage.cupti == "attached") coverage.cupti = "unavailable";
      report.reasons.push_back(
          {process_name(t) + ": the detector did not attach: " + why_not_attached(t),
           "run it where an NVIDIA driver and a CUPTI that fits it are: capgate audit -- PROGRAM"});
    } else if (t.state == trace::FileState::gave_up) {
      report.reasons.push_back({process_name(t) + ": the detector gave up on the way" +
                                    (t.fact("gave-up").empty() ? "" : ": " + std::string(t.fact("gave-up"))),
                                "free the resource it names, then audit again: capgate audit -- PROGRAM"});
    }
    if (const auto left_out = t.fact("setting.CAPGATE_WITHOUT"); !left_out.empty())
      report.reasons.push_back({process_name(t) + ": recorded without " + std::string(left_out) +
                                    ", which is for measuring what they cost",
                                "unset CAPGATE_WITHOUT: capgate audit -- PROGRAM"});
    if (t.dropped > 0)
      report.reasons.push_back(
          {process_name(t) + ": " + counted(t.dropped, "event") + " did not fit into the trace",
           "record less: capgate audit --until captures=1 -- PROGRAM, or give the trace a folder with "
           "more room: --trace DIR"});
  }
}

void describe_unseen_processes(const seal::SealedTrace& trace, Report& report) {
  for (const auto& process : trace.unseen)
    report.reasons.push_back({"process " + std::to_string(process.pid) +
                                  (process.argv0.empty() ? "" : " (" + process.argv0 + ")") +
                                  " used CUDA and left no trace" +
                                  (process.why.empty() ? "" : ": " + process.why),
                              "start it under capgate itself: capgate audit -- PROGRAM"});
  for (const auto& sentence : trace.unreadable)
    report.reasons.push_back({sentence, "audit again: capgate audit -- PROGRAM"});
}

}  // namespace capgate::analysis
