#include "detector/analysis/blocks.h"

#include <iterator>

namespace capgate::analysis {

void Blocks::bury(BlockId id, size_t call, uint64_t seq) {
  all_[id].death = call;
  all_[id].died = seq;
  buried_.push_back(id);
}

BlockId Blocks::born(const Block& block, std::vector<BlockId>& dead) {
  auto next = living_.upper_bound(block.start);
  if (next != living_.begin() && all_[std::prev(next)->second].holds(block.start)) --next;
  while (next != living_.end() && all_[next->second].start < block.end()) {
    bury(next->second, block.birth, block.born);
    dead.push_back(next->second);
    next = living_.erase(next);
  }
  const BlockId id = all_.size();
  all_.push_back(block);
  living_.emplace(block.start, id);
  return id;
}

std::optional<BlockId> Blocks::died(uint64_t start, size_t call, uint64_t seq) {
  const auto found = living_.find(start);
  if (found == living_.end()) return std::nullopt;
  const BlockId id = found->second;
  living_.erase(found);
  bury(id, call, seq);
  return id;
}

void Blocks::died_in(uint64_t start, uint64_t bytes, size_t call, uint64_t seq, std::vector<BlockId>& dead) {
  const uint64_t end = bytes > UINT64_MAX - start ? UINT64_MAX : start + bytes;
  for (auto next = living_.lower_bound(start); next != living_.end() && next->first < end;) {
    bury(next->second, call, seq);
    dead.push_back(next->second);
    next = living_.erase(next);
  }
}

void Blocks::died_with_module(uint64_t module, size_t call, uint64_t seq, std::vector<BlockId>& dead) {
  for (auto next = living_.begin(); next != living_.end();) {
    const Block& block = all_[next->second];
    if (block.owner != Owner::module || block.module != module) {
      ++next;
      continue;
    }
    bury(next->second, call, seq);
    dead.push_back(next->second);
    next = living_.erase(next);
  }
}

void Blocks::forget_device(int32_t device) {
  std::erase_if(living_, [&](const auto& entry) { return all_[entry.second].device == device; });
}

std::optional<BlockId> Blocks::at(uint64_t address) const {
  const auto next = living_.upper_bound(address);
  if (next == living_.begin()) return std::nullopt;
  const BlockId id = std::prev(next)->second;
  return all_[id].holds(address) ? std::optional(id) : std::nullopt;
}

std::optional<BlockId> Blocks::at(uint64_t address, uint64_t seq) const {
  for (auto id = buried_.rbegin(); id != buried_.rend() && all_[*id].died > seq; ++id)
    if (all_[*id].holds(address) && all_[*id].born <= seq) return *id;
  const auto id = at(address);
  return id && all_[*id].born <= seq ? id : std::nullopt;
}

}  // namespace capgate::analysis
