// What a step costs: between two launches of one executable graph, or in one pass of a marked region.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "detector/analysis/timeline.h"

namespace capgate::analysis {

// What a thread does between two consecutive launches of one executable graph. An interval in which another
// graph was launched again and again is none: it is other work (another bucket's steps), not a part of this
// one.
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

// The host stands still in such a call.
bool is_host_wait(const Timeline& timeline, const Call& call);

StepCosts region_costs(const Timeline& timeline);  // of marked passes after the first
StepCosts replay_costs(const Timeline& timeline,
                       const std::vector<Step>& steps);  // of the graph with most steps

// waits_per_step, blocked_us_per_step, pageable_bytes_per_step, allocs_per_step; empty without steps.
std::map<std::string, double> step_metrics(const StepCosts& costs);

}  // namespace capgate::analysis
