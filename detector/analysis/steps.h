// What a step costs: between two launches of one executable graph, or in one pass of a marked region.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "detector/analysis/timeline.h"
#include "reports/model/report.h"

namespace capgate::analysis {

// What a thread does between two consecutive launches of one executable graph. An interval in which another
// graph was launched again and again is none: it is other work (another bucket's steps), not a part of this
// one; nor is one in which the thread verified a graph.
struct Step {
  uint32_t tid = 0;
  uint64_t exec = 0;
  size_t from = 0, to = 0;  // calls, both launches
};

std::vector<Step> replay_steps(const Timeline& timeline);

// Sums over a run; a metric is a sum divided by `steps`.
struct StepCosts {
  uint64_t steps = 0, waits = 0, allocs = 0, pageable_bytes = 0;
  double blocked_us = 0;

  StepCosts& operator+=(const StepCosts& other);
};

// Steps that a cost is counted over, and those that are left out of it.
struct RegionSteps {
  uint64_t counted = 0, warmup = 0, captured = 0, unfinished = 0;
};

// Of the passes of each marked region, by its name.
std::map<std::string, RegionSteps> region_steps(const Timeline& timeline);

// A pass over which costs are counted: not the first, whole, and with no capture in it.
bool counts(const RegionOccurrence& pass);

// How steps between replays keep to the budget of waits. More than half of them decide: a prompt that is read
// between two replays waits more often than a step does.
struct WaitBudget {
  uint64_t steps = 0, over = 0;
  uint32_t budget = 0;
  bool is_over = false;
  bool one_of_several = false;  // graphs whose steps show the same line: the figures are of one

  // "all 10 steps keep to the budget of 1 wait"
  std::string text() const;
  WaitBudget& operator+=(const WaitBudget& other);
};

// What one fault costs in some steps.
struct StepShare {
  uint64_t calls = 0;                                              // in the steps that count
  double blocked_us = 0;                                           // there
  bool blocks = false;                                             // some call there made the host wait
  std::map<std::pair<int64_t, std::string>, RegionSteps> regions;  // by process and name
  uint64_t replays = 0, without_stacks = 0;  // steps between replays that count; whose calls have no place
  WaitBudget waits;                          // of the same steps

  // Empty where no step counts or none of them shows the fault.
  std::optional<reports::PerStep> per_step() const;
  StepShare& operator+=(const StepShare& other);
};

// The host waits for the device in such a call.
bool is_host_wait(const Timeline& timeline, const Call& call);

// The call takes the host's time: a wait, or an asynchronous copy of pageable memory, which CUDA stages
// first.
bool blocks_host(const Timeline& timeline, const Call& call);

// How long it did; a call that CUDA refuses waits for nothing.
double blocked_us(const Call& call);

// `waited_for`: copies that a wait behind them is for. Such a copy and its wait are one wait.
StepCosts region_costs(const Timeline& timeline,
                       const std::set<size_t>& waited_for);  // of marked occurrences after the first
StepCosts replay_costs(const Timeline& timeline, const std::vector<Step>& steps,
                       const std::set<size_t>& waited_for);  // of the graph with most steps

// waits_per_step, blocked_us_per_step, pageable_bytes_per_step, allocs_per_step; empty without steps.
std::map<std::string, double> step_metrics(const StepCosts& costs);

}  // namespace capgate::analysis
