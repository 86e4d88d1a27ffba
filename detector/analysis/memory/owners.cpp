#include "detector/analysis/memory/owners.h"

#include <algorithm>
#include <iterator>

#include "detector/analysis/memory/memory_calls.h"

namespace capgate::analysis {

void Owners::call_ended(size_t call, std::vector<BlockId>& dead) {
  if (const auto block = block_born(timeline_, call); block && block->owner != Owner::graph)
    born(*block, dead);
}

void Owners::born(const Block& block, std::vector<BlockId>& dead) {
  // A variable's address may be asked for again, and a handle opened again.
  if (block.owner == Owner::module || block.owner == Owner::peer)
    if (const auto there = blocks_.at(Layer::piece, block.start);
        there && blocks_[*there].start == block.start && blocks_[*there].owner == block.owner &&
        blocks_[*there].module == block.module)
      return;
  blocks_.born(block, dead);
}

void Owners::pool_block(const trace::PoolBlockRecord& r, std::vector<BlockId>& dead) {
  const bool comes = r.op == static_cast<uint16_t>(trace::BlockOp::born);
  const Moment moment{comes ? r.born_seq : r.h.seq, std::nullopt, r.stack, r.python_stack};
  const bool of_host = r.allocator == static_cast<uint16_t>(trace::Allocator::host);
  if (!comes) {
    blocks_.died(of_host ? Layer::piece : Layer::block, r.start, moment, dead);
    return;
  }
  Block block;
  block.owner = of_host ? Owner::heap : Owner::framework;
  block.start = r.start;
  block.bytes = of_host || r.bytes > UINT64_MAX - r.start ? 0 : r.bytes;
  block.device = r.device;
  block.birth = moment;
  born(block, dead);
  if (!of_host && in_a_capture(moment.seq))
    if (const auto piece = blocks_.at(Layer::piece, r.start)) pieces_of_graphs_.insert(*piece);
}

// Whether any thread was capturing: autograd's threads allocate for a capture of another one's.
bool Owners::in_a_capture(uint64_t seq) const {
  const auto next = std::upper_bound(windows_.begin(), windows_.end(), seq,
                                     [](uint64_t at, const Window& window) { return at < window.begin; });
  return next != windows_.begin() && seq < std::prev(next)->end;
}

std::optional<BlockId> Owners::of(uint64_t address, uint64_t seq) const {
  const auto piece = blocks_.at(Layer::piece, address, seq);
  const auto block = blocks_.at(Layer::block, address, seq);
  if (!block) return piece;
  const bool of_graphs =
      in_a_capture(blocks_[*block].birth.seq) || (piece && pieces_of_graphs_.contains(*piece));
  return of_graphs ? piece : block;
}

void Owners::call_begins(size_t call, std::vector<BlockId>& dead) {
  const End end = memory_ended(timeline_, call);
  const Moment death = moment_of_end(timeline_, call);
  switch (end.what) {
    case Ends::nothing:
      return;
    case Ends::block:
      blocks_.died(Layer::piece, end.start, death, dead);
      break;
    case Ends::range:
      blocks_.died_in(end.start, end.bytes, death, dead);
      break;
    case Ends::module:
      blocks_.died_with_module(end.module, death, dead);
      break;
    case Ends::device:
      blocks_.forget_device(end.device);
      break;
  }
}

std::optional<BlockId> Owners::pool_of_graphs(BlockId block) const {
  if (layer_of(blocks_[block]) == Layer::piece) return std::nullopt;
  const auto piece = blocks_.at(Layer::piece, blocks_[block].start);
  return piece && pieces_of_graphs_.contains(*piece) ? piece : std::nullopt;
}

}  // namespace capgate::analysis
