// What the host does again and again between two replays: legal, and what a step costs.
#include <algorithm>
#include <set>

#include "detector/analysis/copy_operands.h"
#include "detector/analysis/judge.h"
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

double median(std::vector<uint64_t> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return n % 2 ? static_cast<double>(values[n / 2])
               : (static_cast<double>(values[n / 2 - 1]) + static_cast<double>(values[n / 2])) / 2;
}

std::string number(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

struct SiteInSteps {
  std::set<size_t> steps;
  std::vector<size_t> calls;
};

void judge_graph(Judge& judge, const std::vector<Step>& steps, std::set<size_t>& done) {
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
      if (is_host_wait(judge.timeline(), call) && !context.in_break) ++waits[s];
      const Cost cost = cost_of(judge.timeline(), call);
      if (!cost.rule) continue;
      // A long run records stacks for its first steps only; those name the places.
      if (!judge.place(i).known) unplaced.insert(s);
      if (!judge.place(i).known || judge.is_framework_allocator(i)) continue;
      auto& site = sites[{cost.rule, judge.place(i).site}];
      site.steps.insert(s);
      site.calls.push_back(i);
    }
  }
  const double usual_waits = median(waits);
  const bool over_budget = usual_waits > judge.settings().step_waits;
  for (const auto& [key, site] : sites) {
    // What only some steps do is not what a step does.
    if (site.steps.size() < 2 || site.steps.size() * 2 < steps.size() - unplaced.size()) continue;
    StepShare share;
    share.replays = steps.size() - unplaced.size();
    share.without_stacks = unplaced.size();
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
      if (is_host_wait(judge.timeline(), judge.call(i))) {
        // An eager break may wait as often as it likes: its waits are outside the budget.
        if (!judge.context(i).in_break) finding.details["waits a step"] = number(usual_waits);
        if (judge.context(i).in_break) {
          finding.message += ", in an eager break";
        } else if (finding.rule == "host-sync") {
          if (over_budget) finding.severity = Severity::warning;
          finding.message += over_budget ? ": " + number(usual_waits) + " waits per step; the budget is " +
                                               std::to_string(judge.settings().step_waits)
                                         : ": within the budget of " +
                                               std::to_string(judge.settings().step_waits) + " per step";
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
  std::set<size_t> done;
  for (const auto& [graph, steps] : by_graph) judge_graph(judge, steps, done);
}

}  // namespace capgate::analysis
