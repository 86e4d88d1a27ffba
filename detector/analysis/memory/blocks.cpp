#include "detector/analysis/blocks.h"

#include <iterator>

namespace capgate::analysis {

Blocks::Living::iterator Blocks::bury(Layer layer, Living::iterator at, const Moment& death,
                                      std::vector<BlockId>& dead) {
  const BlockId id = at->second;
  const auto next = living(layer).erase(at);
  all_[id].death = death;
  buried_[static_cast<size_t>(layer)].push_back(id);
  dead.push_back(id);
  if (layer == Layer::piece) bury_range(Layer::block, all_[id].start, all_[id].end(), death, dead);
  return next;
}

void Blocks::bury_range(Layer layer, uint64_t start, uint64_t end, const Moment& death,
                        std::vector<BlockId>& dead) {
  for (auto next = living(layer).lower_bound(start); next != living(layer).end() && next->first < end;)
    next = bury(layer, next, death, dead);
}

BlockId Blocks::born(const Block& block, std::vector<BlockId>& dead) {
  const Layer layer = layer_of(block);
  auto& living = this->living(layer);
  auto next = living.upper_bound(block.start);
  if (next != living.begin() && all_[std::prev(next)->second].holds(block.start)) --next;
  while (next != living.end() && all_[next->second].start < block.end())
    next = bury(layer, next, block.birth, dead);
  const BlockId id = all_.size();
  all_.push_back(block);
  living.emplace(block.start, id);
  return id;
}

void Blocks::died(Layer layer, uint64_t start, const Moment& death, std::vector<BlockId>& dead) {
  const auto found = living(layer).find(start);
  if (found != living(layer).end()) bury(layer, found, death, dead);
}

void Blocks::died_in(uint64_t start, uint64_t bytes, const Moment& death, std::vector<BlockId>& dead) {
  bury_range(Layer::piece, start, bytes > UINT64_MAX - start ? UINT64_MAX : start + bytes, death, dead);
}

void Blocks::died_with_module(uint64_t module, const Moment& death, std::vector<BlockId>& dead) {
  auto& pieces = living(Layer::piece);
  for (auto next = pieces.begin(); next != pieces.end();) {
    const Block& block = all_[next->second];
    const bool dies = block.module == module && (block.owner == Owner::module || block.owner == Owner::code);
    next = dies ? bury(Layer::piece, next, death, dead) : std::next(next);
  }
}

void Blocks::forget_device(int32_t device) {
  for (auto& living : living_)
    std::erase_if(living, [&](const auto& entry) { return all_[entry.second].device == device; });
}

std::optional<BlockId> Blocks::at(Layer layer, uint64_t address) const {
  const auto next = living(layer).upper_bound(address);
  if (next == living(layer).begin()) return std::nullopt;
  const BlockId id = std::prev(next)->second;
  return all_[id].holds(address) ? std::optional(id) : std::nullopt;
}

std::optional<BlockId> Blocks::at(Layer layer, uint64_t address, uint64_t seq) const {
  // A layer's blocks never overlap: what lives now and was born by then lived then.
  if (const auto id = at(layer, address); id && all_[*id].birth.seq <= seq) return id;
  const auto& buried = buried_[static_cast<size_t>(layer)];
  for (auto id = buried.rbegin(); id != buried.rend() && all_[*id].death->seq > seq; ++id)
    if (all_[*id].holds(address) && all_[*id].birth.seq <= seq) return *id;
  return std::nullopt;
}

}  // namespace capgate::analysis
