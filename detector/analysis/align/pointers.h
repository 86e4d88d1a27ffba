// Pointers that eager steps change and a graph keeps, by the block that they point into and never by address.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "detector/analysis/align/comparisons.h"
#include "detector/analysis/align/fields.h"
#include "detector/analysis/blocks.h"

namespace capgate::analysis {

// offset: into one block that is always the same, further on or back with each step.
// previous: into the block that the step before has made, and in the graph into the one that the last eager
// step made.
enum class PointerChange : uint8_t { offset, previous };

struct StalePointer {
  size_t node = 0;
  PointerField field;  // as the graph has it
  PointerChange change = PointerChange::offset;
  uint64_t kept = 0;                // offset in the graph
  std::vector<uint64_t> offsets;    // in the steps, in their order
  const EagerStep* step = nullptr;  // the last one
};

// Of marked steps. A block that the program or a copy of the graph writes is the way in which new values get
// into the graph: no pointer to it is stale.
std::vector<StalePointer> stale_pointers(const Timeline& timeline, const Comparison& comparison,
                                         const AroundLaunches& around, const Blocks& blocks);

}  // namespace capgate::analysis
