// What the host does again and again between two replays: legal, and what a step costs.
#include <algorithm>
#include <set>

#include "detector/analysis/copy_operands.h"
#include "detector/analysis/judge.h"
#include "detector/analysis/step_streams.h"
#include "detector/analysis/steps.h"

namespace capgate::analysis {
namespace {

using reports::Severity;
using trace::Family;

struct Cost {
  const char* rule = nullptr;
  Severity severity = Severity::note;
  std::string message;
};

// What a call between two replays is, when each step repeats it. Waits are weighed by the caller.
Cost cost_of(const Timeline& timeline, const Call& call) {
  const std::string bytes = call.r.bytes ? " (" + std::string(kSizeMark) + ")" : "";
  switch (static_cast<Family>(call.r.family)) {
    case Family::stream_sync:
    case Family::event_sync:
    case Family::device_sync:
      return {"host-sync", Severity::note, "the host waits"};
    case Family::stream_query:
    case Family::event_query:
      return {"host-poll", Severity::note, "the host asks whether work is done"};
    case Family::memcpy_sync:
      return {"sync-copy", Severity::note, "copies synchronously" + bytes};
    case Family::memset_sync:
      return {"sync-copy", Severity::note, "sets memory synchronously" + bytes};
    case Family::memcpy_async:
      if (reads_pageable(timeline, call.r))
        return {"pageable-copy", Severity::note, "copies from pageable memory" + bytes};
      if (writes_pageable(timeline, call.r))
        return {"pageable-copy", Severity::note, "copies into pageable memory" + bytes};
      return {};
    case Family::alloc_device:
      return {"device-alloc", Severity::warning, "allocates device memory" + bytes};
    case Family::free_device:
      return {"device-alloc", Severity::warning, "frees device memory"};
    case Family::alloc_host:
      return {"host-alloc", Severity::warning, "allocates pinned memory" + bytes};
    case Family::free_host:
      return {"host-alloc", Severity::warning, "frees pinned memory"};
    case Family::host_register:
      return {"host-alloc", Severity::warning, "pins host memory" + bytes};
    case Family::host_unregister:
      return {"host-alloc", Severity::warning, "unpins host memory"};
    default:
      return {};
  }
}

std::string way_of_copy(const Timeline& timeline, const trace::CallRecord& call) {
  const auto family = static_cast<Family>(call.family);
  const bool copy = family == Family::memcpy_sync || family == Family::memcpy_async;
  return copy ? direction_text(timeline, call) : "";
}

// Whether the call waits for an event that was recorded before the step's launch: the wait is for an earlier
// step, and the GPU works on the last launch meanwhile.
bool waits_for_earlier_step(const Timeline& timeline, const std::vector<Step>& steps, size_t s, size_t wait) {
  const Call& call = timeline.call(wait);
  if (static_cast<Family>(call.r.family) != Family::event_sync || s == 0) return false;
  for (size_t i = wait; i-- > steps[s - 1].from;) {
    const Call& before = timeline.call(i);
    if (static_cast<Family>(before.r.family) == Family::event_record && before.r.object == call.r.object)
      return i < steps[s].from;
  }
  return false;
}

struct SiteInSteps {
  std::set<size_t> steps;
  std::vector<size_t> calls;
  size_t for_earlier = 0;     // of the calls, those that wait for an earlier step
  bool before_copies = true;  // each call of it stands before a synchronous copy that waits for the same
};

void judge_graph(Judge& judge, const StepStreams& streams, const std::vector<Step>& steps,
                 std::set<size_t>& done) {
  std::map<std::pair<std::string, std::string>, SiteInSteps> sites;  // rule, site
  std::vector<uint64_t> waits(steps.size());
  std::set<size_t> unplaced;  // steps
  for (size_t s = 0; s < steps.size(); ++s) {
    for (size_t i = steps[s].from + 1; i < steps[s].to; ++i) {
      const Call& call = judge.call(i);
      const auto& context = judge.context(i);
      if (call.tid != steps[s].tid || (call.r.flags & trace::kNested) || context.window != kNone ||
          context.region != kNone || judge.wait_of_copy.contains(i))
        continue;
      if (blocks_host(judge.timeline(), call) && !judge.waited_for.contains(i) && !context.in_break)
        ++waits[s];
      const Cost cost = cost_of(judge.timeline(), call);
      if (!cost.rule) continue;
      // A long run records stacks for its first steps only; those name the places.
      if (!judge.place(i).known) unplaced.insert(s);
      if (!judge.place(i).known || judge.is_framework_allocator(i)) continue;
      auto& site = sites[{cost.rule, judge.place(i).site}];
      site.steps.insert(s);
      site.calls.push_back(i);
      if (waits_for_earlier_step(judge.timeline(), steps, s, i)) ++site.for_earlier;
      site.before_copies = site.before_copies && streams.copy_waits_too(steps[s], i);
    }
  }
  WaitBudget kept{waits.size(), 0, judge.settings().step_waits, false};
  for (const uint64_t number : waits) kept.over += number > kept.budget ? 1 : 0;
  kept.is_over = kept.over * 2 >= kept.steps && kept.over > 0;
  const std::string used = streams.used_by(steps), launched_on = streams.launched_on(steps);
  for (const auto& [key, site] : sites) {
    // What only some steps do is not what a step does.
    if (site.steps.size() < 2 || site.steps.size() * 2 < steps.size() - unplaced.size()) continue;
    StepShare share;
    share.replays = steps.size() - unplaced.size();
    share.without_stacks = unplaced.size();
    share.waits = kept;
    for (const size_t i : site.calls) {
      ++share.calls;
      if (blocks_host(judge.timeline(), judge.call(i))) {
        share.blocks = true;
        share.blocked_us += judge.blocked_us_with_its_copy(i);
      }
      if (!done.insert(i).second) continue;
      const Cost cost = cost_of(judge.timeline(), judge.call(i));
      Finding finding;
      finding.rule = cost.rule;
      finding.call = i;
      finding.phase = reports::Phase::step;
      finding.severity = cost.severity;
      finding.message = cost.message + " between two replays";
      finding.blocks = blocks_host(judge.timeline(), judge.call(i));
      if (judge.call(i).r.bytes) finding.size = judge.call(i).r.bytes;
      if (const std::string way = way_of_copy(judge.timeline(), judge.call(i).r); !way.empty())
        finding.details["direction"] = way;
      if (finding.rule == "sync-copy" && !launched_on.empty()) finding.details["launched on"] = launched_on;
      if (is_host_wait(judge.timeline(), judge.call(i))) {
        // An eager break may wait as often as it likes: its waits are outside the budget.
        if (judge.context(i).in_break) {
          finding.message += ", in an eager break";
        } else if (finding.rule == "host-sync") {
          if (kept.is_over) finding.severity = Severity::warning;
          finding.message += std::string(": ").append(kBudgetMark);
          finding.details["work on"] = used;
          // The first step that is seen has no step before it.
          if (site.for_earlier > 0 && site.for_earlier + 1 >= site.calls.size())
            finding.details["waits for"] = "an earlier step";
          if (site.before_copies) finding.details["before"] = "a copy that waits";
        }
      }
      if (judge.context(i).in_break) finding.severity = Severity::note;
      if (judge.call(i).r.bytes && !is_host_wait(judge.timeline(), judge.call(i)))
        finding.bytes = judge.call(i).r.bytes;
      judge.report(finding);
    }
    judge.count_in_replays(key.first, key.second, share);
  }
}

}  // namespace

void judge_steps(Judge& judge) {
  std::map<std::pair<uint32_t, uint64_t>, std::vector<Step>> by_graph;
  for (const auto& step : replay_steps(judge.timeline())) by_graph[{step.tid, step.exec}].push_back(step);
  const StepStreams streams(judge.timeline());
  std::set<size_t> done;
  for (const auto& [graph, steps] : by_graph) judge_graph(judge, streams, steps, done);
}

}  // namespace capgate::analysis
