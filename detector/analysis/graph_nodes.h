// The nodes of graphs, and the calls that made them.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "detector/analysis/graph_windows.h"
#include "detector/analysis/timeline.h"

namespace capgate::analysis {

// A node of an executable.
struct NodeInGraph {
  const trace::GraphNodeRecord* node = nullptr;
  std::optional<size_t> maker;  // the call that made it
  bool in_condition = false;    // in a body of a conditional node
};

class GraphNodes {
 public:
  explicit GraphNodes(const Timeline& timeline);

  // Of a completed capture, each once, in the order of the trace; empty when the trace does not hold them.
  std::vector<const trace::GraphNodeRecord*> of(const Capture& capture) const;
  // Pairs of node handles.
  std::vector<std::pair<uint64_t, uint64_t>> edges_of(const Capture& capture) const;
  // Index of the call that put the node into the capture.
  std::optional<size_t> maker(uint64_t node, const Capture& capture) const;

  // Of a graph as the record `as_of` found it, with the graphs that its nodes hold.
  std::vector<NodeInGraph> in(uint64_t graph, uint64_t as_of) const;
  std::vector<NodeInGraph> in(const ExecVersion& version) const { return in(version.graph, version.as_of); }
  // The record up to which the trace tells what a call found in its graph.
  uint64_t as_of(uint64_t call_seq) const { return windows_.written_by(call_seq); }
  // Whether the trace holds the graph.
  bool holds(uint64_t graph, uint64_t as_of) const;
  // The call that made the node, or the one that it was cloned from.
  std::optional<size_t> maker(uint64_t node, uint64_t as_of) const;

 private:
  struct Clone {
    uint64_t seq = 0, original = 0;
  };
  struct Nested {
    uint64_t as_of = 0;
    bool in_condition = false;
    int depth = 0;
  };

  std::vector<const trace::GraphNodeRecord*> between(uint64_t graph,
                                                     const std::pair<uint64_t, uint64_t>& window) const;
  void add(uint64_t graph, const Nested& where, std::vector<NodeInGraph>& out) const;

  GraphWindows windows_;
  std::unordered_map<uint64_t, std::vector<const trace::GraphNodeRecord*>> nodes_;
  std::unordered_map<uint64_t, std::vector<const trace::GraphEdgeRecord*>> edges_;
  std::unordered_map<uint64_t, std::vector<const trace::GraphLinkRecord*>> links_;
  std::unordered_map<uint64_t, std::vector<std::pair<uint64_t, size_t>>> made_by_;
  std::unordered_map<uint64_t, std::vector<Clone>> clones_;  // by node
};

}  // namespace capgate::analysis
