#include "detector/analysis/analyze.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <utility>

#include "detector/analysis/bars.h"
#include "detector/analysis/capture_list.h"
#include "detector/analysis/coverage.h"
#include "detector/analysis/eager_comparison.h"
#include "detector/analysis/graph_nodes.h"
#include "detector/analysis/judge.h"
#include "detector/analysis/ledger.h"
#include "detector/analysis/left_captures.h"
#include "detector/analysis/sources.h"
#include "detector/analysis/steps.h"
#include "detector/analysis/verification_coverage.h"
#include "detector/analysis/watched_memory.h"
#include "reports/settings/settings.h"
#include "reports/suppressions/suppressions.h"
#include "reports/verdict/finish.h"

namespace capgate::analysis {
namespace {

// More nodes than a reader will look at, and a report that still opens at once.
constexpr size_t kMostListedNodes = 20000;

reports::Settings settings_in_force(const seal::SealedTrace& trace, reports::Report& report) {
  const auto& text = trace.expected.settings;
  if (text.text.empty()) return {};
  auto settings = reports::parse_settings(text.text, text.name, "");
  if (settings) return *settings;
  report.reasons.push_back(
      {settings.error(), "correct the settings, then audit again: capgate audit -- PROGRAM"});
  return {};
}

reports::Suppressions suppressions_in_force(const seal::SealedTrace& trace, reports::Report& report) {
  reports::Suppressions out;
  const auto& file = trace.expected.suppressions;
  if (!file.text.empty()) {
    // Reports are compared across machines: they name the file, not where it lies.
    auto entries =
        reports::parse_suppressions(file.text, std::filesystem::path(file.name).filename().string());
    if (entries)
      out.entries = std::move(*entries);
    else
      report.reasons.push_back(
          {entries.error(), "correct the suppressions, then audit again: capgate audit -- PROGRAM"});
  }
  for (const auto& source : trace.sources)
    for (const auto& comment : source.allows)
      for (auto& allow : reports::find_allow_comments(comment.text, source.path)) {
        allow.line = comment.line;
        out.comments.push_back(std::move(allow));
      }
  return out;
}

constexpr int kMostAttempts = 3;  // that fail in a row before one completes

// A failed capture was only a first attempt when one of the next few at the same place completes, before a
// graph of that place was replayed. The place is the whole path of calls: a class that wraps captures begins
// all of them at one line, for steps that have nothing to do with each other.
void mark_retries(Timeline& timeline, Places& places) {
  std::vector<const Place*> begun;
  for (const auto& capture : timeline.captures) {
    const auto& begin = timeline.call(capture.begin).r;
    begun.push_back(&places.at(begin.stack, begin.python_stack, ""));
  }
  const auto same_path = [&](const Capture& a, const Capture& b) {
    const Place& one = *begun[static_cast<size_t>(&a - timeline.captures.data())];
    const Place& other = *begun[static_cast<size_t>(&b - timeline.captures.data())];
    const auto same = [](const reports::Frame& x, const reports::Frame& y) {
      return x.line == y.line && x.function == y.function && x.file == y.file && x.module == y.module;
    };
    return a.device == b.device && a.bucket == b.bucket && one.site == other.site &&
           std::equal(one.frames.begin(), one.frames.end(), other.frames.begin(), other.frames.end(), same);
  };
  for (auto& failed : timeline.captures) {
    if (failed.state != CaptureState::failed || !failed.end) continue;
    int failures = 1;
    for (const auto& later : timeline.captures) {
      // What had begun before the failure was no second attempt: another thread captured there at the same
      // time.
      if (later.begin_seq <= failed.end_seq || !same_path(later, failed)) continue;
      if (later.state != CaptureState::completed) {
        if (++failures > kMostAttempts) break;
        continue;
      }
      failed.retried =
          std::none_of(timeline.launches.begin(), timeline.launches.end(), [&](const Launch& launch) {
            const uint64_t seq = timeline.call(launch.call).r.h.seq;
            return launch.capture != kNone && seq > failed.end_seq && seq < later.begin_seq &&
                   same_path(timeline.captures[static_cast<size_t>(launch.capture)], failed);
          });
      break;
    }
  }
}

// Of graphs whose nodes the report does not hold, their numbers say nothing.
void name_listed_nodes_only(reports::Report& report) {
  std::set<std::string_view> listed;
  for (const auto& capture : report.captures)
    if (!capture.nodes.empty()) listed.insert(capture.id);
  for (auto& violation : report.violations)
    std::erase_if(violation.nodes, [&](const auto& nodes) { return !listed.contains(nodes.capture); });
}

}  // namespace

reports::Report analyze(const seal::SealedTrace& trace) {
  reports::Report report;
  report.tool.version = trace.tool_version;
  report.tool.component = reports::Component::detector;
  report.run = trace.run;

  std::vector<reports::Reason> input_reasons;
  const reports::Settings settings = settings_in_force(trace, report);
  reports::Suppressions suppressions = suppressions_in_force(trace, report);
  input_reasons.swap(report.reasons);
  std::vector<std::string> patterns = trace.expected.regions;
  for (const auto& pattern : settings.regions)
    if (std::find(patterns.begin(), patterns.end(), pattern) == patterns.end()) patterns.push_back(pattern);

  std::vector<Timeline> timelines;
  timelines.reserve(trace.processes.size());
  for (const auto& process : trace.processes) timelines.push_back(make_timeline(process.trace, patterns));

  Findings findings;
  StepCosts in_regions, in_replays;
  std::set<std::string> sources;
  std::vector<Watch> watches;
  std::vector<VerifiedProcess> verified;
  verified.reserve(trace.processes.size());
  ComparedGraphs compared;
  std::vector<TimedThread> bars;
  size_t room = kMostListedNodes;
  for (size_t i = 0; i < trace.processes.size(); ++i) {
    Timeline& timeline = timelines[i];
    find_left_captures(timeline, trace.run);
    Places places(trace, trace.processes[i], settings.frames);
    mark_retries(timeline, places);
    Judge judge(trace, trace.processes[i], timeline, places, settings, findings);
    link_exceptions(judge);
    judge_waits(judge);
    judge_copies(judge);
    judge_allocations(judge);
    judge_loading(judge);
    judge_stray_work(judge);
    judge_joins(judge);
    judge_host_nodes(judge);
    judge_host_pointers(judge);
    judge_threads(judge);
    judge_failed_captures(judge);
    judge_exceptions(judge);
    judge_notices(judge);
    judge_steps(judge);
    judge_refused_calls(judge);
    const GraphNodes nodes(timeline);
    judge_built_graphs(judge, nodes);
    judge_recaptures(judge, nodes);
    judge_graph_refusals(judge, nodes, judge_graph_memory(judge, nodes));
    const MemoryLedger ledger = follow_memory(timeline, [&](const Moment& moment) {
      const Place& at = judge.place(Elsewhere{moment.stack, moment.python_stack, ""});
      return at.known ? at.site : std::string();
    });
    judge_freed_memory(judge, ledger);
    VerifiedProcess& own = verified.emplace_back();
    own.timeline = &timeline;
    own.verifications = read_verifications(trace.processes[i].trace);
    own.evidence = replay_evidence(timeline, nodes, own.verifications);
    judge_replay_mismatches(judge, own.evidence);
    judge_eager_comparison(judge, nodes, own, ledger, compared);
    watches.push_back({ledger.graphs, ledger.launches, ledger.thinned});
    add_sources(timeline, places, settings.frames, trace.package_modules, sources);
    judge.link_symptoms();
    in_regions += region_costs(timeline, judge.waited_for);
    in_replays += replay_costs(timeline, replay_steps(timeline), judge.waited_for);
    for (auto& capture : list_captures(timeline, room)) report.captures.push_back(std::move(capture));
    for (auto& thread : bars_of(timeline, places)) bars.push_back(std::move(thread));
  }
  report.violations = findings.take();
  report.timeline = run_timeline(std::move(bars));
  // A run with graphs is judged by what the host does between replays, as its findings are.
  report.metrics = step_metrics(in_replays.steps > 0 ? in_replays : in_regions);
  describe_run(trace, timelines, patterns, report);
  describe_watch(trace, timelines, watches, report);
  describe_verifications(verified, report);
  describe_comparisons(std::move(compared), report);
  report.coverage.sources_run.emplace(sources.begin(), sources.end());
  report.reasons.insert(report.reasons.end(), input_reasons.begin(), input_reasons.end());
  if (room < kMostListedNodes / 2 &&
      std::any_of(
          report.captures.begin(), report.captures.end(),
          [](const auto& capture) { return capture.nodes.empty() && capture.result == "completed"; }))
    report.coverage.not_checked.emplace_back("the nodes of some captures are not listed: there are too many");
  name_listed_nodes_only(report);
  reports::apply_suppressions(report, suppressions, false);
  reports::finish(report);
  return report;
}

}  // namespace capgate::analysis
