// Who owns the memory at an address, followed through a run: CUDA's blocks, the blocks that PyTorch's
// allocator makes of them, and which of those belong to graphs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "detector/analysis/blocks.h"
#include "detector/analysis/memory/events.h"
#include "detector/analysis/timeline.h"

namespace capgate::analysis {

class Owners {
 public:
  explicit Owners(const Timeline& timeline) : timeline_(timeline), windows_(capture_windows(timeline)) {}

  // Each appends the blocks that died of it.
  void call_begins(size_t call, std::vector<BlockId>& dead);  // what it takes back
  void call_ended(size_t call, std::vector<BlockId>& dead);   // what it brought
  void pool_block(const trace::PoolBlockRecord& record, std::vector<BlockId>& dead);

  // Who the address belonged to at `seq`, for a graph that keeps it. What a framework hands out while it
  // captures comes from a pool of the graphs, and so does everything in the same piece of memory: its reuse
  // is intended, and only the end of the piece is one.
  std::optional<BlockId> of(uint64_t address, uint64_t seq) const;

  // The piece of a graphs' pool that the block lies in. A pool is filled before the first capture in it: only
  // then is it known whose it is.
  std::optional<BlockId> pool_of_graphs(BlockId block) const;

  const Blocks& blocks() const { return blocks_; }
  Blocks take() { return std::move(blocks_); }

 private:
  void born(const Block& block, std::vector<BlockId>& dead);
  bool in_a_capture(uint64_t seq) const;

  const Timeline& timeline_;
  const std::vector<Window> windows_;
  Blocks blocks_;
  std::unordered_set<BlockId> pieces_of_graphs_;
};

}  // namespace capgate::analysis
