// The addresses that a graph keeps: of its copies, memsets and kernels, as they were when it was made.
#pragma once

#include <vector>

#include "detector/analysis/graph_nodes.h"
#include "detector/analysis/ledger.h"
#include "detector/analysis/timeline.h"

namespace capgate::analysis {

// Of a completed capture. A kernel's parameter counts if it is a whole pointer by its size; a word inside a
// structure may be anything.
std::vector<Held> held_memory(const Timeline& timeline, const GraphNodes& nodes, const Capture& capture);

}  // namespace capgate::analysis
