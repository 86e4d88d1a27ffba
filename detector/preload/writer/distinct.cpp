#include "detector/preload/writer/distinct.h"

namespace capgate::preload {
namespace {

constexpr uint32_t kSlots = 1 << 18;

}  // namespace

uint32_t Distinct::find(const void* data, size_t bytes, bool* fresh) {
  const uint64_t hash = hash_bytes(data, bytes);
  const auto check = uint32_t(hash_bytes(data, bytes, 0x5851f42d4c957f2du));
  Locked locked(lock_);
  if (slots_ == nullptr) slots_ = static_cast<Slot*>(map_memory(kSlots * sizeof(Slot)));
  *fresh = false;
  if (slots_ == nullptr) return 0;
  uint32_t at = uint32_t(hash >> 20) % kSlots;
  for (; slots_[at].id != 0; at = (at + 1) % kSlots)
    if (slots_[at].hash == hash && slots_[at].check == check) return slots_[at].id;
  if (count_ >= kSlots / 4 * 3) return 0;
  *fresh = true;
  slots_[at] = {hash, check, ++count_};
  return count_;
}

void Distinct::forget() {
  lock_.reset();
  if (slots_ != nullptr) munmap(slots_, kSlots * sizeof(Slot));
  slots_ = nullptr;
  count_ = 0;
}

}  // namespace capgate::preload
