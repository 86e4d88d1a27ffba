// Values that eager steps change and a graph keeps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "detector/analysis/align/comparisons.h"
#include "detector/analysis/align/fields.h"

namespace capgate::analysis {

// A value of one node that is not what each eager step passes.
struct StaleValue {
  size_t node = 0;
  Field field;                       // as the graph has it
  std::vector<Field> eager;          // what the steps passed, each value once, in their order
  const EagerStep* step = nullptr;   // the last one
  const Verification* of = nullptr;  // whose steps show it; null: marked steps
  bool varies = true;                // false: all steps pass one value, and the graph has another
};

struct ComparedValues {
  uint64_t compared = 0, varied = 0;  // values; those that some step changed
  std::vector<StaleValue> stale;
};

// A value varies when it changes twice or more over the steps and the capture, in their order; over the steps
// of a verification, when it is the same for the same inputs and not for all.
ComparedValues compare_values(const Timeline& timeline, const Comparison& comparison,
                              const std::vector<ReplayEvidence>& evidence);

}  // namespace capgate::analysis
