#include "detector/preload/stacks/known_stacks.h"

#include "detector/preload/system/sys.h"
#include "detector/preload/writer/thread_state.h"

namespace capgate::preload {

struct KnownStack {
  uint32_t id;
  uint32_t count;
  bool truncated, until_python;
  ReturnSlot slots[kMaxSlots];
};

constexpr uint32_t kSets = 16, kWays = 8;

struct KnownStacks {
  uint8_t next[kSets];  // the way that is overwritten next
  KnownStack known[kSets][kWays];
};

namespace {

KnownStacks* stacks_of(const ThreadState& thread) {
  return static_cast<KnownStacks*>(thread.pages);
}

uint32_t set_of(uint64_t entry, uint32_t cbid) {
  return uint32_t((entry >> 4 ^ entry >> 12 ^ uint64_t(cbid) * 7) % kSets);
}

// Innermost first: each match proves that the next place is a part of the stack.
bool still_there(const KnownStack& stack) {
  for (uint32_t i = 0; i < stack.count; ++i) {
    const ReturnSlot& slot = stack.slots[i];
    const auto* at = reinterpret_cast<const uint64_t*>(slot.at);
    if (at[0] != slot.ip || (slot.frame != 0 && at[-1] != slot.frame)) return false;
  }
  return true;
}

}  // namespace

FoundStack find_known_stack(const ThreadState& thread, uint64_t entry, uint32_t cbid, bool until_python) {
  if (thread.pages == nullptr) return {};
  for (const KnownStack& stack : stacks_of(thread)->known[set_of(entry, cbid)]) {
    if (stack.id == 0 || stack.slots[0].at != entry || stack.until_python != until_python) continue;
    if (still_there(stack)) return {stack.id, stack.truncated};
  }
  return {};
}

void keep_stack(ThreadState& thread, const ReturnSlot* slots, uint32_t count, uint32_t cbid,
                bool until_python, FoundStack stack) {
  if (count == 0 || count > kMaxSlots || stack.id == 0) return;
  find_stack_bounds(thread);
  for (uint32_t i = 0; i < count; ++i)
    if (slots[i].at - sizeof(uint64_t) < thread.stack_low ||
        slots[i].at + sizeof(uint64_t) > thread.stack_high)
      return;
  if (!give_pages(thread, sizeof(KnownStacks))) return;
  KnownStacks& all = *stacks_of(thread);
  const uint32_t set = set_of(slots[0].at, cbid);
  KnownStack& kept = all.known[set][all.next[set]++ % kWays];
  kept.id = stack.id;
  kept.count = count;
  kept.truncated = stack.truncated;
  kept.until_python = until_python;
  memcpy(kept.slots, slots, count * sizeof(ReturnSlot));
}

}  // namespace capgate::preload
