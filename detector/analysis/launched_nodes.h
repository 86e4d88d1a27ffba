// What executables ran: the nodes that a launch found in them, with the parameters that they had by then.
#pragma once

#include <vector>

#include "detector/analysis/graph_nodes.h"
#include "detector/analysis/timeline.h"

namespace capgate::analysis {

struct LaunchedNode {
  const Executable* exec = nullptr;
  NodeInGraph in;
  bool edited = false;                // in.maker gave the node of an executable new parameters
  uint64_t from = 0, until = kNever;  // records between which the executable has it with these parameters
};

// Each node once for each call that gave it its parameters.
std::vector<LaunchedNode> launched_nodes(const Timeline& timeline, const GraphNodes& nodes);

// Launches of the executable between two records.
size_t launches_between(const Timeline& timeline, const Executable& exec, uint64_t from, uint64_t to);

// Whether a call of a capture made the node: then the capture's rules speak of it.
bool is_captured(const Timeline& timeline, const NodeInGraph& node);

}  // namespace capgate::analysis
