// The eager steps of a run that graphs can be held against, and what the program does around its launches.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "detector/analysis/align/work.h"
#include "detector/analysis/timeline.h"
#include "detector/analysis/verifications.h"

namespace capgate::analysis {

// A pass of a marked step whose launches were recorded, with no capture and no launch of a graph in it; or an
// eager step of a verification.
struct EagerStep {
  const Verification* of = nullptr;
  int set = 0, step = 0;  // of a verification: equal for the same inputs from the same state
  std::string bucket;     // of a marked step
  uint32_t tid = 0;
  uint64_t begin_seq = 0, end_seq = 0;
  std::vector<Work> work;
};

// By seq.
std::vector<EagerStep> eager_steps(const Timeline& timeline, WorkKeys& keys,
                                   const std::vector<Verification>& verifications);

// Work that is done eagerly where graphs are launched: no graph lacks it.
struct AroundLaunches {
  std::set<uint32_t> keys;
  std::vector<uint64_t> addresses;  // that it writes, or that its kernels are given
  bool known = false;  // at least once from one launch of a graph to the next, all kernels were recorded
};

// In a verification: what runs in its replays, between loading and reading.
AroundLaunches around_launches(const Timeline& timeline, WorkKeys& keys, const std::vector<EagerStep>& eager,
                               const std::vector<Verification>& verifications);

}  // namespace capgate::analysis
