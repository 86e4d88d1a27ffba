#include "detector/analysis/verification_coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

namespace capgate::analysis {
namespace {

using reports::ReplayResult;

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (!text.empty() && std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
}

// Of all that the executable ever held.
template <class Entry>
void name_captures(const Timeline& timeline, const Executable& exec, Entry& out) {
  for (const auto& version : exec.versions)
    for (const int32_t index : version.captures) {
      const Capture& capture = timeline.captures[static_cast<size_t>(index)];
      add_once(out.captures, fmt::format("{}:{}", timeline.trace->pid, capture.number + 1));
      add_once(out.buckets, capture.bucket);
    }
}

std::string name_of(const Timeline& timeline, const Executable& exec) {
  return fmt::format("{}:e{}", timeline.trace->pid, exec.number);
}

reports::VerifiedReplay verified(const Timeline& timeline, const ReplayEvidence& evidence) {
  const Verification& of = *evidence.of;
  reports::VerifiedReplay out;
  out.name = of.name;
  if (evidence.exec) {
    out.executable = name_of(timeline, *evidence.exec);
    name_captures(timeline, *evidence.exec, out);
  }
  out.input_sets = evidence.input_sets;
  out.steps = evidence.steps;
  out.refilled_bytes = evidence.refilled ? of.refilled_bytes : 0;
  for (const auto& output : of.outputs) {
    add_once(out.outputs, output.name);
    if (!output.varied) add_once(out.unvaried, output.name);
    out.noise = std::max(out.noise, output.noise);
  }
  out.result = evidence.differs    ? ReplayResult::differs
               : evidence.counts() ? ReplayResult::equal
                                   : ReplayResult::not_counted;
  out.why = evidence.why;
  if (!evidence.remedy.empty()) out.remedy = evidence.remedy + ", then: capgate audit -- PROGRAM";
  return out;
}

// Why no verification counts for all launches of the executable; empty where one does.
std::string why_not(const Timeline& timeline, const std::vector<ReplayEvidence>& evidence,
                    const Executable& exec) {
  std::set<ContentsAt> known;
  std::string why;
  for (const auto& one : evidence) {
    if (one.exec != &exec) continue;
    if (one.differs) return fmt::format("it gives other results than the eager step in \"{}\"", one.of->name);
    if (one.counts())
      known.insert(one.contents.begin(), one.contents.end());
    else
      why = fmt::format("verification \"{}\" does not count: {}", one.of->name, one.why);
  }
  if (known.empty()) return why.empty() ? "no verification launched it" : why;
  const bool all = std::all_of(exec.launches.begin(), exec.launches.end(), [&](size_t launch) {
    return known.contains(contents_at(exec, timeline.call(timeline.launches[launch].call).r.h.seq));
  });
  return all ? "" : "it was also launched with other contents: an update or a change of a node lies between";
}

// As was_thinned() of the memory's ledger: what a run of many steps leaves out of its steps is no loss.
uint64_t lost_records(const trace::ProcessTrace& trace) {
  uint64_t lost = trace.dropped;
  for (const auto& counter : trace.counters) {
    const std::string_view name = trace.text(counter.r.name);
    if (name == "thinned:room" || name.starts_with("thinned:graph")) lost += counter.r.value;
  }
  return lost;
}

}  // namespace

void describe_verifications(const std::vector<VerifiedProcess>& processes, reports::Report& report) {
  if (std::all_of(processes.begin(), processes.end(),
                  [](const auto& process) { return process.verifications.empty(); }))
    return;
  if (!report.coverage.replay) report.coverage.replay.emplace();
  reports::ReplayCoverage& replay = *report.coverage.replay;
  for (const auto& process : processes) {
    const Timeline& timeline = *process.timeline;
    replay.records_lost += lost_records(*timeline.trace);
    for (const auto& evidence : process.evidence) {
      replay.verified.push_back(verified(timeline, evidence));
      if (!evidence.exec && !evidence.of->differences.empty())
        report.reasons.push_back(
            {fmt::format("verification \"{}\" found other results than the eager step's, and launched no "
                         "executable graph",
                         evidence.of->name),
             "give verify_replay the program's own launch of the graph, then: capgate audit -- PROGRAM"});
    }
    for (const auto& exec : timeline.executables) {
      if (exec.launches.empty()) continue;
      std::string why = why_not(timeline, process.evidence, exec);
      if (why.empty()) continue;
      reports::UnverifiedReplay& out = replay.not_verified.emplace_back();
      out.executable = name_of(timeline, exec);
      name_captures(timeline, exec, out);
      out.launches = exec.launches.size();
      out.why = std::move(why);
    }
  }
}

}  // namespace capgate::analysis
