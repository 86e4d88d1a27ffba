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
  uint64_t outer = 0;           // the outermost graph's node that holds it; 0: it is that graph's own
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
  // The record that begins its contents, if it holds no other graphs.
  std::optional<uint64_t> alone_since(const ExecVersion& version) const;
  // The call that made the node, or the one that it was cloned from.
  std::optional<size_t> maker(uint64_t node, uint64_t as_of) const { return origin(node, as_of).maker; }
  // Since when a node has the parameters that it has at `as_of`, as far as the trace tells: the call that
  // made it, or the last one that changed it. 0: not known.
  uint64_t params_since(uint64_t node, uint64_t as_of) const { return origin(node, as_of).params_since; }

 private:
  struct Clone {
    uint64_t seq = 0, original = 0;
  };
  struct Nested {
    uint64_t as_of = 0;
    bool in_condition = false;
    int depth = 0;
    uint64_t outer = 0;
  };
  struct Origin {
    std::optional<size_t> maker;
    uint64_t params_since = 0;
  };

  std::vector<const trace::GraphNodeRecord*> between(uint64_t graph,
                                                     const std::pair<uint64_t, uint64_t>& window) const;
  Origin origin(uint64_t node, uint64_t as_of) const;
  void add(uint64_t graph, const Nested& where, std::vector<NodeInGraph>& out) const;

  GraphWindows windows_;
  std::unordered_map<uint64_t, std::vector<const trace::GraphNodeRecord*>> nodes_;
  std::unordered_map<uint64_t, std::vector<const trace::GraphEdgeRecord*>> edges_;
  std::unordered_map<uint64_t, std::vector<const trace::GraphLinkRecord*>> links_;
  std::unordered_map<uint64_t, std::vector<std::pair<uint64_t, size_t>>> made_by_;
  std::unordered_map<uint64_t, std::vector<Clone>> clones_;  // by node
  std::unordered_map<uint64_t, std::vector<uint64_t>>
      sets_;  // calls that changed a node's parameters, by seq
};

}  // namespace capgate::analysis
