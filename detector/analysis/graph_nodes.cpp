#include "detector/analysis/graph_nodes.h"

#include <algorithm>
#include <unordered_set>

namespace capgate::analysis {

GraphNodes::GraphNodes(const Timeline& timeline) {
  const auto& trace = *timeline.trace;
  for (const auto& node : trace.graph_nodes) nodes_[node.r.graph].push_back(&node.r);
  for (const auto& edge : trace.graph_edges) edges_[edge.r.graph].push_back(&edge.r);
  for (const auto& capture : trace.captures) records_[capture.r.graph].push_back(capture.r.h.seq);
  std::unordered_map<uint64_t, size_t> by_seq;
  for (size_t i = 0; i < trace.calls.size(); ++i) by_seq[trace.calls[i].r.h.seq] = i;
  for (const auto& node : trace.nodes)
    if (const auto call = by_seq.find(node.r.call_seq); call != by_seq.end())
      made_by_[node.r.node].emplace_back(node.r.call_seq, call->second);
}

std::pair<uint64_t, uint64_t> GraphNodes::span_of(const Capture& capture) const {
  const uint64_t from = capture.record->h.seq;
  uint64_t to = kNever;
  if (const auto seqs = records_.find(capture.graph); seqs != records_.end()) {
    const auto next = std::upper_bound(seqs->second.begin(), seqs->second.end(), from);
    if (next != seqs->second.end()) to = *next;
  }
  return {from, to};
}

std::vector<const trace::GraphNodeRecord*> GraphNodes::of(const Capture& capture) const {
  std::vector<const trace::GraphNodeRecord*> out;
  if (!capture.record || !capture.graph) return out;
  const auto found = nodes_.find(capture.graph);
  if (found == nodes_.end()) return out;
  const auto [from, to] = span_of(capture);
  std::unordered_set<uint64_t> seen;
  for (const auto* node : found->second)
    if (node->h.seq > from && node->h.seq < to && seen.insert(node->node).second) out.push_back(node);
  return out;
}

std::vector<std::pair<uint64_t, uint64_t>> GraphNodes::edges_of(const Capture& capture) const {
  std::vector<std::pair<uint64_t, uint64_t>> out;
  if (!capture.record || !capture.graph) return out;
  const auto found = edges_.find(capture.graph);
  if (found == edges_.end()) return out;
  const auto [from, to] = span_of(capture);
  for (const auto* edge : found->second)
    if (edge->h.seq > from && edge->h.seq < to) out.emplace_back(edge->from, edge->to);
  return out;
}

std::optional<size_t> GraphNodes::maker(uint64_t node, const Capture& capture) const {
  const auto made = made_by_.find(node);
  if (made == made_by_.end()) return std::nullopt;
  for (const auto& [seq, call] : made->second)
    if (seq >= capture.begin_seq && seq <= capture.end_seq) return call;
  return std::nullopt;
}

}  // namespace capgate::analysis
