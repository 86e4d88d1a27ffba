// What frameworks report of their own about captures: those that they went without, and those that they make
// again and again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "detector/analysis/timeline.h"

namespace capgate::analysis {

// "mutated inputs (1 instances)" of torch's "skipping cudagraphs due to mutated inputs (1 instances). Found
// from : …".
std::string skip_reason(std::string_view text);

// The captures that torch.compile was asked for and went without, and its first reason.
struct Skipped {
  uint64_t times = 0;
  std::string reason;
};
Skipped skipped_captures(const std::vector<Timeline>& timelines);

}  // namespace capgate::analysis
