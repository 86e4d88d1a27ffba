// What a report says of the graphs that were launched: coverage.replay.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reports/model/compared_replay.h"

namespace capgate::reports {

// How closely a run followed the memory that graphs refer to, weakest first. segments: what CUDA hands out,
// but not the blocks that some allocator makes of it. blocks: each block as its owner hands it out.
enum class MemoryWatched { no, segments, blocks };

enum class ReplayResult { equal, differs, not_counted };

// An executable graph that a verification (verify_replay) launched, or a verification that launched none.
struct VerifiedReplay {
  std::string name;                            // as the program calls the verification
  std::optional<std::string> executable;       // "100:e3": the third of process 100
  std::vector<std::string> captures, buckets;  // whose work it holds: their ids, their names
  uint64_t input_sets = 0, steps = 0;          // that launched it, and how many in a row each
  uint64_t refilled_bytes = 0;  // free memory that was filled before all of it ran again; 0: it ran once
  double noise = 0;             // the largest difference between two eager runs
  std::vector<std::string> outputs, unvaried;  // that were compared; of these, those that no input changed
  ReplayResult result = ReplayResult::not_counted;
  std::string why, remedy;  // of what is not counted
  bool operator==(const VerifiedReplay&) const = default;
};

// An executable graph that was launched, and not verified as it was launched.
struct UnverifiedReplay {
  std::string executable;
  std::vector<std::string> captures, buckets;
  uint64_t launches = 0;
  std::string why;
  bool operator==(const UnverifiedReplay&) const = default;
};

// What a pass proves about the launches of graphs.
struct ReplayCoverage {
  uint64_t graphs = 0, launches = 0;  // whose contents are known, and the launches of those
  MemoryWatched memory_watched = MemoryWatched::no;
  std::vector<std::string> allocators_not_seen;  // whose blocks nobody saw: "CuPy", "PyTorch"; in order
  // GCC asks for an initializer where only the first members are given.
  // NOLINTBEGIN(readability-redundant-member-init)
  // Of runs with a verification; other runs say nothing here.
  std::vector<VerifiedReplay> verified = {};
  std::vector<UnverifiedReplay> not_verified = {};
  uint64_t records_lost = 0;  // that the trace had no room for
  // Of runs whose eager steps were recorded.
  std::vector<ComparedReplay> compared = {};
  std::vector<UncomparedReplay> not_compared = {};
  // NOLINTEND(readability-redundant-member-init)
  bool operator==(const ReplayCoverage&) const = default;
};

}  // namespace capgate::reports
