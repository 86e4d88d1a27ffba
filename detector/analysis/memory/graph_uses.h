// What the executables of one graph keep, block by block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "detector/analysis/graph_nodes.h"
#include "detector/analysis/ledger.h"

namespace capgate::analysis {

class GraphUses {
 public:
  using Dropped = std::vector<std::pair<BlockId, Held>>;

  // True: the block was not used before.
  bool add(BlockId block, const Held& held);

  bool has(BlockId block) const { return uses_.contains(block); }
  std::vector<BlockId> blocks() const;
  // The first use of the block, but what proves one goes before what only looks like one.
  const Held& first(BlockId block) const;
  size_t nodes(BlockId block) const;  // that use it

  void forget(BlockId block) { uses_.erase(block); }
  // The block's uses are another one's. True: that was not used before.
  bool move(BlockId from, BlockId to);

  // For graphs whose nodes change. What follows holds for the nodes that were indexed.
  void index(const std::vector<NodeInGraph>& nodes);
  bool has_node(uint64_t node) const { return blocks_of_.contains(node); }
  const std::vector<BlockId>& blocks_of(uint64_t node) const { return blocks_of_.at(node); }
  Dropped drop_node(uint64_t node);  // its uses are over
  void drop_inner(uint64_t outer);   // so are those of all nodes that it holds, and the nodes

 private:
  std::unordered_map<BlockId, std::vector<Held>> uses_;
  bool indexed_ = false;
  std::unordered_map<uint64_t, std::vector<BlockId>> blocks_of_;  // by node
  std::unordered_map<uint64_t, std::vector<uint64_t>> nodes_in_;  // by the node that holds them
};

}  // namespace capgate::analysis
