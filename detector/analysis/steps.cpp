#include "detector/analysis/steps.h"

#include <algorithm>
#include <cmath>

#include "base/counted.h"
#include "detector/analysis/copy_operands.h"
#include "detector/analysis/results.h"

namespace capgate::analysis {
namespace {

using trace::Family;

void add_call(StepCosts& costs, const Timeline& timeline, size_t i, const std::set<size_t>& waited_for) {
  const Call& call = timeline.call(i);
  if (call.r.flags & trace::kNested) return;
  const auto family = static_cast<Family>(call.r.family);
  if (blocks_host(timeline, call)) {
    if (!waited_for.contains(i)) ++costs.waits;
    costs.blocked_us += blocked_us(call);
  }
  if (family == Family::alloc_device || family == Family::alloc_host || family == Family::alloc_async)
    ++costs.allocs;
  if ((family == Family::memcpy_async || family == Family::memcpy_sync) &&
      (reads_pageable(timeline, call.r) || writes_pageable(timeline, call.r)))
    costs.pageable_bytes += call.r.bytes;
}

}  // namespace

double blocked_us(const Call& call) {
  if (is_refusal(call.r.result) || call.r.t_end_ns <= call.r.t_begin_ns) return 0;
  return static_cast<double>(call.r.t_end_ns - call.r.t_begin_ns) / 1e3;
}

bool is_host_wait(const Timeline& timeline, const Call& call) {
  switch (static_cast<Family>(call.r.family)) {
    case Family::stream_sync:
    case Family::event_sync:
    case Family::device_sync:
      return true;
    case Family::memcpy_sync:
      return call.r.bytes > 0 && !is_device_to_device(timeline, call.r);
    default:
      return false;
  }
}

bool blocks_host(const Timeline& timeline, const Call& call) {
  if (is_host_wait(timeline, call)) return true;
  if (static_cast<Family>(call.r.family) != Family::memcpy_async) return false;
  // An upload is copied aside and the call returns; only a large one waits for the stream (measured on an
  // H200: 1 MiB returns within 0.35 ms behind a kernel of 20 ms, 8 MiB waits for it).
  constexpr uint64_t kCopiedAside = 1 << 20;
  return (call.r.bytes > 0 && writes_pageable(timeline, call.r)) ||
         (call.r.bytes > kCopiedAside && reads_pageable(timeline, call.r));
}

namespace {

// verify_replay waits, copies and compares between two launches.
bool is_of_a_verification(const Timeline& timeline, const Step& step) {
  const uint64_t from = timeline.call(step.from).r.h.seq, to = timeline.call(step.to).r.h.seq;
  return std::any_of(timeline.verifying.begin(), timeline.verifying.end(), [&](const Verifying& span) {
    return span.tid == step.tid && span.begin_seq < to && span.end_seq > from;
  });
}

}  // namespace

std::vector<Step> replay_steps(const Timeline& timeline) {
  std::map<uint32_t, std::vector<const Launch*>> by_thread;
  for (const auto& launch : timeline.launches) by_thread[timeline.call(launch.call).tid].push_back(&launch);
  std::vector<Step> steps;
  for (const auto& [tid, launches] : by_thread) {
    std::map<uint64_t, size_t> last;  // exec -> index in launches
    // Start of the current run of distinct graphs: an interval that begins before it holds a repetition.
    size_t distinct_from = 0;
    for (size_t i = 0; i < launches.size(); ++i) {
      const uint64_t exec = launches[i]->exec;
      const auto before = last.find(exec);
      if (before != last.end()) {
        if (before->second >= distinct_from)
          steps.push_back({tid, exec, launches[before->second]->call, launches[i]->call});
        distinct_from = std::max(distinct_from, before->second + 1);
      }
      last[exec] = i;
    }
  }
  std::erase_if(steps, [&](const Step& step) { return is_of_a_verification(timeline, step); });
  return steps;
}

StepCosts& StepCosts::operator+=(const StepCosts& other) {
  steps += other.steps;
  waits += other.waits;
  allocs += other.allocs;
  pageable_bytes += other.pageable_bytes;
  blocked_us += other.blocked_us;
  return *this;
}

bool counts(const RegionOccurrence& pass) {
  return pass.number > 0 && !pass.has_capture && pass.end_seq != kNever;
}

std::map<std::string, RegionSteps> region_steps(const Timeline& timeline) {
  std::map<std::string, RegionSteps> steps;
  for (const auto& pass : timeline.regions) {
    RegionSteps& of = steps[pass.name];
    if (counts(pass))
      ++of.counted;
    else if (pass.has_capture)
      ++of.captured;
    else if (pass.number == 0)
      ++of.warmup;
    else
      ++of.unfinished;
  }
  return steps;
}

std::string WaitBudget::text() const {
  const uint64_t of = is_over ? over : steps - over;
  return (of == steps ? "all " + grouped(of) : grouped(of) + " of " + grouped(steps)) + " steps" +
         (one_of_several ? " of one graph" : "") +
         (is_over ? " go over the budget of " : " keep to the budget of ") + counted(budget, "wait");
}

WaitBudget& WaitBudget::operator+=(const WaitBudget& other) {
  steps += other.steps;
  over += other.over;
  budget = std::max(budget, other.budget);
  is_over |= other.is_over;
  one_of_several |= other.one_of_several;
  return *this;
}

StepShare& StepShare::operator+=(const StepShare& other) {
  calls += other.calls;
  blocked_us += other.blocked_us;
  blocks |= other.blocks;
  regions.insert(other.regions.begin(), other.regions.end());
  replays += other.replays;
  without_stacks += other.without_stacks;
  waits += other.waits;
  return *this;
}

std::optional<reports::PerStep> StepShare::per_step() const {
  RegionSteps all;
  for (const auto& [region, steps] : regions) {
    all.counted += steps.counted;
    all.warmup += steps.warmup;
    all.captured += steps.captured;
    all.unfinished += steps.unfinished;
  }
  const uint64_t steps = all.counted + replays;
  if (steps == 0 || calls == 0) return std::nullopt;
  const auto each = [&](double sum) { return std::round(sum / static_cast<double>(steps) * 1000) / 1000; };
  reports::PerStep out;
  out.steps = steps;
  out.count = each(static_cast<double>(calls));
  if (blocks) out.blocked_us = each(blocked_us);
  const auto leave_out = [&](uint64_t number, const char* why) {
    if (number > 0) out.left_out.push_back({number, why});
  };
  leave_out(all.warmup, "warm-up");
  leave_out(all.captured, "a capture in it");
  leave_out(all.unfinished, "not finished");
  leave_out(without_stacks, "recorded without stacks");
  return out;
}

StepCosts region_costs(const Timeline& timeline, const std::set<size_t>& waited_for) {
  StepCosts costs;
  for (const auto& region : timeline.regions)
    if (counts(region)) ++costs.steps;
  if (costs.steps == 0) return costs;
  for (size_t i = 0; i < timeline.contexts.size(); ++i) {
    const int32_t region = timeline.contexts[i].region;
    if (region != kNone && timeline.contexts[i].window == kNone &&
        counts(timeline.regions[static_cast<size_t>(region)]))
      add_call(costs, timeline, i, waited_for);
  }
  return costs;
}

StepCosts replay_costs(const Timeline& timeline, const std::vector<Step>& steps,
                       const std::set<size_t>& waited_for) {
  std::map<std::pair<uint32_t, uint64_t>, uint64_t> counts;
  for (const auto& step : steps) ++counts[{step.tid, step.exec}];
  const auto most = std::max_element(counts.begin(), counts.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  StepCosts costs;
  if (most == counts.end()) return costs;
  for (const auto& step : steps) {
    if (step.tid != most->first.first || step.exec != most->first.second) continue;
    ++costs.steps;
    for (size_t i = step.from + 1; i < step.to; ++i)
      if (timeline.call(i).tid == step.tid && timeline.contexts[i].window == kNone)
        add_call(costs, timeline, i, waited_for);
  }
  return costs;
}

std::map<std::string, double> step_metrics(const StepCosts& costs) {
  if (costs.steps == 0) return {};
  const auto each = [&](double sum) {
    return std::round(sum / static_cast<double>(costs.steps) * 1000) / 1000;
  };
  return {{"waits_per_step", each(static_cast<double>(costs.waits))},
          {"blocked_us_per_step", each(costs.blocked_us)},
          {"pageable_bytes_per_step", each(static_cast<double>(costs.pageable_bytes))},
          {"allocs_per_step", each(static_cast<double>(costs.allocs))},
          {"steps", static_cast<double>(costs.steps)}};
}

}  // namespace capgate::analysis
