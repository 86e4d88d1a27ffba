// The nodes of captured graphs, and the calls that made them.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "detector/analysis/timeline.h"

namespace capgate::analysis {

class GraphNodes {
 public:
  explicit GraphNodes(const Timeline& timeline);

  // Of a completed capture, each once, in the order of the trace; empty when the trace does not hold them.
  std::vector<const trace::GraphNodeRecord*> of(const Capture& capture) const;
  // Pairs of node handles.
  std::vector<std::pair<uint64_t, uint64_t>> edges_of(const Capture& capture) const;
  // Index of the call that put the node into the capture.
  std::optional<size_t> maker(uint64_t node, const Capture& capture) const;

 private:
  // Records of one graph stand behind its capture record; a later graph may have the same handle.
  std::pair<uint64_t, uint64_t> span_of(const Capture& capture) const;

  std::unordered_map<uint64_t, std::vector<const trace::GraphNodeRecord*>> nodes_;
  std::unordered_map<uint64_t, std::vector<const trace::GraphEdgeRecord*>> edges_;
  std::unordered_map<uint64_t, std::vector<uint64_t>> records_;
  std::unordered_map<uint64_t, std::vector<std::pair<uint64_t, size_t>>> made_by_;
};

}  // namespace capgate::analysis
