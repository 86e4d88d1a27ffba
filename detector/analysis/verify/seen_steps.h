// What the calls of the thread that verifies show of each step of a verification.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "detector/analysis/timeline.h"
#include "detector/analysis/verifications.h"

namespace capgate::analysis {

struct SeenStep {
  const VerifiedStep* step = nullptr;
  bool loaded = false;  // a copy, a memset or a kernel ran while its inputs were loaded
  // In its launch phase: executable graphs, as indexes into Timeline::launches, and kernels by name.
  std::vector<size_t> launches, launches_elsewhere;  // of other threads
  std::map<uint32_t, uint64_t> work;
  struct Read {
    uint64_t from = 0, bytes = 0;
  };
  std::vector<Read> copies;  // in its read phase: where they read
  bool kernels = false;      // in its read phase
};

std::vector<SeenStep> seen_steps(const Timeline& timeline, const Verification& verification);

}  // namespace capgate::analysis
