#include "detector/analysis/memory/graph_uses.h"

#include <algorithm>
#include <iterator>

namespace capgate::analysis {

bool GraphUses::add(BlockId block, const Held& held) {
  auto& uses = uses_[block];
  const bool fresh = uses.empty();
  uses.push_back(held);
  if (!indexed_) return fresh;
  auto& blocks = blocks_of_[held.node->node];
  if (blocks.empty() || blocks.back() != block) blocks.push_back(block);
  return fresh;
}

void GraphUses::index(const std::vector<NodeInGraph>& nodes) {
  for (const auto& in : nodes) {
    const bool fresh = blocks_of_.try_emplace(in.node->node).second;
    if (fresh && in.outer != 0) nodes_in_[in.outer].push_back(in.node->node);
  }
  if (std::exchange(indexed_, true)) return;
  for (const auto& [block, uses] : uses_)
    for (const Held& held : uses) {
      auto& blocks = blocks_of_[held.node->node];
      if (blocks.empty() || blocks.back() != block) blocks.push_back(block);
    }
}

std::vector<BlockId> GraphUses::blocks() const {
  std::vector<BlockId> out;
  out.reserve(uses_.size());
  for (const auto& [block, uses] : uses_) out.push_back(block);
  std::sort(out.begin(), out.end());
  return out;
}

const Held& GraphUses::first(BlockId block) const {
  const auto& uses = uses_.at(block);
  const auto sure =
      std::find_if(uses.begin(), uses.end(), [](const Held& held) { return held.use != Use::word; });
  return sure == uses.end() ? uses.front() : *sure;
}

size_t GraphUses::nodes(BlockId block) const {
  size_t count = 0;
  const trace::GraphNodeRecord* last = nullptr;
  for (const Held& held : uses_.at(block)) {
    if (held.node != last) ++count;
    last = held.node;
  }
  return count;
}

bool GraphUses::move(BlockId from, BlockId to) {
  auto moved = uses_.extract(from);
  auto& uses = uses_[to];
  const bool fresh = uses.empty();
  if (indexed_)
    for (const Held& held : moved.mapped()) blocks_of_[held.node->node].push_back(to);
  uses.insert(uses.end(), std::make_move_iterator(moved.mapped().begin()),
              std::make_move_iterator(moved.mapped().end()));
  return fresh;
}

GraphUses::Dropped GraphUses::drop_node(uint64_t node) {
  Dropped dropped;
  const auto of = blocks_of_.find(node);
  if (of == blocks_of_.end()) return dropped;
  for (const BlockId block : of->second) {
    const auto uses = uses_.find(block);
    if (uses == uses_.end()) continue;
    const auto gone = std::stable_partition(uses->second.begin(), uses->second.end(),
                                            [&](const Held& held) { return held.node->node != node; });
    for (auto held = gone; held != uses->second.end(); ++held) dropped.emplace_back(block, *held);
    uses->second.erase(gone, uses->second.end());
    if (uses->second.empty()) uses_.erase(uses);
  }
  of->second.clear();
  return dropped;
}

void GraphUses::drop_inner(uint64_t outer) {
  const auto inner = nodes_in_.find(outer);
  if (inner == nodes_in_.end()) return;
  for (const uint64_t node : inner->second) {
    drop_node(node);
    blocks_of_.erase(node);
  }
  nodes_in_.erase(inner);
}

}  // namespace capgate::analysis
