// What the host does again and again between two replays: legal, and what a step costs.
#include <algorithm>
#include <set>

#include "detector/analysis/judge.h"
#include "detector/analysis/steps.h"

namespace capgate::analysis {
namespace {

using reports::Severity;
using trace::Family;
using trace::Memory;

struct Cost {
  const char* rule = nullptr;
  Severity severity = Severity::note;
  std::string message;
};

// What a call between two replays is, when each step repeats it. Waits are weighed by the caller.
Cost cost_of(const Call& call) {
  const auto pageable = static_cast<uint8_t>(Memory::pageable);
  switch (static_cast<Family>(call.r.family)) {
    case Family::stream_sync:
    case Family::event_sync:
    case Family::device_sync:
      return {"host-sync", Severity::note, "the host waits"};
    case Family::stream_query:
    case Family::event_query:
      return {"host-poll", Severity::note, "the host asks whether work is done"};
    case Family::memcpy_sync:
    case Family::memset_sync:
      return {"sync-copy", Severity::note, "a synchronous copy"};
    case Family::memcpy_async:
      if (call.r.src_memory == pageable || call.r.dst_memory == pageable)
        return {"pageable-copy", Severity::note, "a copy with pageable memory"};
      return {};
    case Family::alloc_device:
    case Family::free_device:
      return {"device-alloc", Severity::warning, "device memory is got or given back"};
    case Family::alloc_host:
    case Family::free_host:
    case Family::host_register:
    case Family::host_unregister:
      return {"host-alloc", Severity::warning, "pinned memory is got or given back"};
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
      if (is_host_wait(call) && !context.in_break) ++waits[s];
      const Cost cost = cost_of(call);
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
    for (const size_t i : site.calls) {
      if (!done.insert(i).second) continue;
      const Cost cost = cost_of(judge.call(i));
      Finding finding;
      finding.rule = cost.rule;
      finding.call = i;
      finding.phase = reports::Phase::step;
      finding.severity = cost.severity;
      finding.message = cost.message + " between two replays";
      if (is_host_wait(judge.call(i))) {
        finding.blocks = true;
        finding.details["waits a step"] = number(usual_waits);
        if (finding.rule == "host-sync") {
          if (over_budget && !judge.context(i).in_break) finding.severity = Severity::warning;
          finding.message += over_budget ? ": " + number(usual_waits) + " waits a step, where " +
                                               std::to_string(judge.settings().step_waits) + " is meant"
                                         : ": within the budget of " +
                                               std::to_string(judge.settings().step_waits) + " a step";
        }
      }
      if (judge.context(i).in_break) finding.severity = Severity::note;
      if (judge.call(i).r.bytes && !is_host_wait(judge.call(i))) finding.bytes = judge.call(i).r.bytes;
      judge.report(finding);
    }
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
