#include "detector/analysis/graph_nodes.h"

#include <algorithm>
#include <unordered_set>

#include "detector/trace/node_kind.h"

namespace capgate::analysis {
namespace {

constexpr int kMostNested = 16;

// Of records in the order of the trace, the first one behind `seq`.
template <class Record>
auto first_behind(const std::vector<const Record*>& records, uint64_t seq) {
  return std::upper_bound(records.begin(), records.end(), seq,
                          [](uint64_t value, const Record* record) { return value < record->h.seq; });
}

}  // namespace

GraphNodes::GraphNodes(const Timeline& timeline) : windows_(*timeline.trace) {
  const auto& trace = *timeline.trace;
  for (const auto& node : trace.graph_nodes) nodes_[node.r.graph].push_back(&node.r);
  for (const auto& edge : trace.graph_edges) edges_[edge.r.graph].push_back(&edge.r);
  for (const auto& link : trace.graph_links) links_[link.r.graph].push_back(&link.r);
  for (const auto& clone : trace.node_clones)
    clones_[clone.r.node].push_back({clone.r.h.seq, clone.r.original});
  std::unordered_map<uint64_t, size_t> by_seq;
  for (size_t i = 0; i < trace.calls.size(); ++i) by_seq[trace.calls[i].r.h.seq] = i;
  for (const auto& node : trace.nodes)
    if (const auto call = by_seq.find(node.r.call_seq); call != by_seq.end())
      made_by_[node.r.node].emplace_back(node.r.call_seq, call->second);
  for (const auto& [call, tid] : trace.calls)
    if (static_cast<trace::Family>(call.family) == trace::Family::graph_node_set && call.result == 0 &&
        call.object2 != 0)
      sets_[call.object2].push_back(call.h.seq);
}

std::vector<const trace::GraphNodeRecord*> GraphNodes::between(
    uint64_t graph, const std::pair<uint64_t, uint64_t>& window) const {
  std::vector<const trace::GraphNodeRecord*> out;
  const auto found = nodes_.find(graph);
  if (found == nodes_.end()) return out;
  std::unordered_set<uint64_t> seen;
  for (auto at = first_behind(found->second, window.first);
       at != found->second.end() && (*at)->h.seq < window.second; ++at)
    if (seen.insert((*at)->node).second) out.push_back(*at);
  return out;
}

std::vector<const trace::GraphNodeRecord*> GraphNodes::of(const Capture& capture) const {
  if (!capture.record || !capture.graph) return {};
  return between(capture.graph, windows_.at(capture.graph, capture.record->h.seq));
}

std::vector<std::pair<uint64_t, uint64_t>> GraphNodes::edges_of(const Capture& capture) const {
  std::vector<std::pair<uint64_t, uint64_t>> out;
  if (!capture.record || !capture.graph) return out;
  const auto found = edges_.find(capture.graph);
  if (found == edges_.end()) return out;
  const auto [from, to] = windows_.at(capture.graph, capture.record->h.seq);
  for (auto at = first_behind(found->second, from); at != found->second.end() && (*at)->h.seq < to; ++at)
    out.emplace_back((*at)->from, (*at)->to);
  return out;
}

std::optional<size_t> GraphNodes::maker(uint64_t node, const Capture& capture) const {
  const auto made = made_by_.find(node);
  if (made == made_by_.end()) return std::nullopt;
  for (const auto& [seq, call] : made->second)
    if (seq >= capture.begin_seq && seq <= capture.end_seq) return call;
  return std::nullopt;
}

GraphNodes::Origin GraphNodes::origin(uint64_t node, uint64_t as_of) const {
  Origin out;
  for (int depth = 0; depth < kMostNested; ++depth) {
    const Clone* clone = nullptr;
    if (const auto clones = clones_.find(node); clones != clones_.end())
      for (const auto& other : clones->second)
        if (other.seq <= as_of) clone = &other;
    std::optional<size_t> call;
    uint64_t made_seq = 0;
    if (const auto made = made_by_.find(node); made != made_by_.end())
      for (const auto& [seq, index] : made->second)
        if (seq <= as_of) call = index, made_seq = seq;
    const uint64_t here = std::max(clone ? clone->seq : 0, made_seq);
    if (const auto sets = sets_.find(node); sets != sets_.end() && out.params_since == 0)
      for (const uint64_t seq : sets->second)
        if (seq <= as_of && seq > here) out.params_since = seq;
    // The handle may have been another node's when it was cloned.
    if (!clone || (call && made_seq > clone->seq)) {
      out.maker = call;
      if (out.params_since == 0) out.params_since = made_seq;
      return out;
    }
    node = clone->original;
    as_of = clone->seq;
  }
  return out;
}

void GraphNodes::add(uint64_t graph, const Nested& where, std::vector<NodeInGraph>& out) const {
  const auto window = windows_.at(graph, where.as_of);
  for (const auto* node : between(graph, window))
    out.push_back({node, maker(node->node, where.as_of), where.in_condition, where.outer});
  const auto links = links_.find(graph);
  if (links == links_.end() || where.depth == kMostNested) return;
  for (auto at = first_behind(links->second, window.first);
       at != links->second.end() && (*at)->h.seq < window.second; ++at) {
    const auto* link = *at;
    const uint64_t outer = where.depth == 0 ? link->node : where.outer;
    add(link->child,
        {where.as_of, where.in_condition || link->kind == trace::kConditionalNode, where.depth + 1, outer},
        out);
  }
}

std::vector<NodeInGraph> GraphNodes::in(uint64_t graph, uint64_t as_of) const {
  std::vector<NodeInGraph> out;
  add(graph, {as_of, false, 0, 0}, out);
  return out;
}

std::optional<uint64_t> GraphNodes::alone_since(const ExecVersion& version) const {
  const auto window = windows_.at(version.graph, version.as_of);
  if (window.first == 0) return std::nullopt;
  const auto links = links_.find(version.graph);
  if (links == links_.end()) return window.first;
  const auto at = first_behind(links->second, window.first);
  const bool alone = at == links->second.end() || (*at)->h.seq >= window.second;
  return alone ? std::optional(window.first) : std::nullopt;
}

bool GraphNodes::holds(uint64_t graph, uint64_t as_of) const {
  return windows_.at(graph, as_of).first != 0;
}

}  // namespace capgate::analysis
