#include "detector/preload/memory/block_table.h"

#include "detector/preload/system/sys.h"

namespace capgate::preload {
namespace {

constexpr size_t kBytes = BlockTable::kMost * (sizeof(KnownBlock) + 4 * sizeof(uint32_t));

}  // namespace

// One mapping, of which only what is used takes memory.
bool BlockTable::make_room() {
  if (known_ != nullptr) return true;
  auto* room = static_cast<uint8_t*>(map_memory(kBytes));
  if (room == nullptr) return false;
  known_ = reinterpret_cast<KnownBlock*>(room);
  slots_ = reinterpret_cast<uint32_t*>(room + size_t{kMost} * sizeof(KnownBlock));
  unwritten_ = slots_ + kSlots;
  free_ = unwritten_ + kMost;
  return true;
}

uint32_t BlockTable::home(uint64_t start) const {
  return uint32_t(hash_bytes(&start, sizeof(start)) >> 32) % kSlots;
}

uint32_t BlockTable::slot_of(uint64_t start) const {
  uint32_t at = home(start);
  while (slots_[at] != 0 && known_[slots_[at] - 1].block.start != start) at = (at + 1) % kSlots;
  return at;
}

KnownBlock* BlockTable::find(uint64_t start) {
  if (known_ == nullptr) return nullptr;
  const uint32_t slot = slots_[slot_of(start)];
  return slot != 0 ? &known_[slot - 1] : nullptr;
}

KnownBlock* BlockTable::add(uint64_t start) {
  if (!make_room() || (free_count_ == 0 && used_ == kMost)) return nullptr;
  const uint32_t index = free_count_ != 0 ? free_[--free_count_] : used_++;
  slots_[slot_of(start)] = index + 1;
  KnownBlock& known = known_[index];
  known = {};
  known.block.start = start;
  unwritten_[unwritten_count_++] = index;
  known.unwritten = unwritten_count_;
  return &known;
}

void BlockTable::take_from_unwritten(KnownBlock& known) {
  if (known.unwritten == 0) return;
  const uint32_t last = unwritten_[--unwritten_count_];
  unwritten_[known.unwritten - 1] = last;
  known_[last].unwritten = known.unwritten;
  known.unwritten = 0;
}

void BlockTable::mark_written(KnownBlock& known) {
  take_from_unwritten(known);
}

KnownBlock* BlockTable::unwritten() {
  return unwritten_count_ != 0 ? &known_[unwritten_[unwritten_count_ - 1]] : nullptr;
}

// Whatever was put further on because this slot was taken moves up, so that no search ends too early.
void BlockTable::remove(KnownBlock& known) {
  take_from_unwritten(known);
  uint32_t hole = slot_of(known.block.start);
  free_[free_count_++] = slots_[hole] - 1;
  for (uint32_t at = (hole + 1) % kSlots; slots_[at] != 0; at = (at + 1) % kSlots) {
    const uint32_t wanted = home(known_[slots_[at] - 1].block.start);
    const bool stays = hole <= at ? hole < wanted && wanted <= at : hole < wanted || wanted <= at;
    if (stays) continue;
    slots_[hole] = slots_[at];
    hole = at;
  }
  slots_[hole] = 0;
}

void BlockTable::forget() {
  if (known_ != nullptr) munmap(known_, kBytes);
  *this = {};
}

}  // namespace capgate::preload
