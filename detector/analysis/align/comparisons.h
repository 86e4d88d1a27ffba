// Graphs beside the eager steps that they replace.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "detector/analysis/align/eager_steps.h"
#include "detector/analysis/align/match.h"
#include "detector/analysis/align/work.h"
#include "detector/analysis/graph_nodes.h"
#include "detector/analysis/verifications.h"

namespace capgate::analysis {

// One eager step, and the calls in it that do what the nodes do.
struct AlignedStep {
  const EagerStep* step = nullptr;
  std::vector<std::optional<size_t>> eager_of;  // by node of the comparison
  size_t matched = 0;

  // Null where the node has no call, or the call's parameters are not recorded.
  const trace::GraphNodeRecord* launch_of(size_t node) const {
    return eager_of[node] ? step->work[*eager_of[node]].record : nullptr;
  }
};

// An executable that was launched, or the last marked step of a run that captured nothing.
struct Comparison {
  const Executable* exec = nullptr;
  int32_t capture = kNone;
  uint64_t made_seq = 0;  // when the values of its nodes were taken
  std::vector<Work> nodes;
  std::set<size_t> edited;         // nodes that were given other parameters later
  std::vector<AlignedStep> steps;  // that are accepted, by seq
  size_t nearest = 0;              // matched nodes of the step that came nearest, where none is
  std::string why;                 // why nothing was compared; empty: it was, or there was nothing to compare
  bool was_compared() const { return !steps.empty(); }
};

struct Comparisons {
  std::vector<EagerStep> eager;
  AroundLaunches around;
  std::vector<Comparison> all;  // the steps point into `eager`
};

// A step is accepted when it has 95 % of the nodes, none of them out of order, and is of the graph's shape.
Comparisons compare_graphs(const Timeline& timeline, const GraphNodes& nodes, WorkKeys& keys,
                           const std::vector<Verification>& verifications,
                           const std::vector<ReplayEvidence>& evidence);

// What two have in common besides their key: 0 to 100.
int likeness(const trace::ProcessTrace& trace, const Work& a, const Work& b);

}  // namespace capgate::analysis
