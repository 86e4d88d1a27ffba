// The addresses that a graph keeps: of its copies, memsets and kernels, as they were when it was made.
#pragma once

#include <vector>

#include "detector/analysis/graph_nodes.h"
#include "detector/analysis/ledger.h"
#include "detector/analysis/timeline.h"

namespace capgate::analysis {

// Of a completed capture. A kernel's parameter of eight bytes is taken for what it may be; so is each word of
// a structure, which is told apart.
std::vector<Held> held_memory(const Timeline& timeline, const GraphNodes& nodes, const Capture& capture);

}  // namespace capgate::analysis
