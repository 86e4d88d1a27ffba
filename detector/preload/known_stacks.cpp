#include "detector/preload/known_stacks.h"

#include "detector/preload/sys.h"
#include "detector/preload/thread_state.h"

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

// Threads beyond these unwind each time. 22 MiB if all of them have every place in use.
constexpr uint32_t kMaxThreads = 64;
std::atomic<uint32_t> g_threads{0};

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
  if (thread.known_stacks == nullptr) return {};
  for (const KnownStack& stack : thread.known_stacks->known[set_of(entry, cbid)]) {
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
  if (thread.known_stacks == nullptr) {
    if (g_threads.fetch_add(1) >= kMaxThreads) {
      g_threads.fetch_sub(1);
      return;
    }
    thread.known_stacks = static_cast<KnownStacks*>(map_memory(sizeof(KnownStacks)));
    if (thread.known_stacks == nullptr) return;
  }
  KnownStacks& all = *thread.known_stacks;
  const uint32_t set = set_of(slots[0].at, cbid);
  KnownStack& kept = all.known[set][all.next[set]++ % kWays];
  kept.id = stack.id;
  kept.count = count;
  kept.truncated = stack.truncated;
  kept.until_python = until_python;
  memcpy(kept.slots, slots, count * sizeof(ReturnSlot));
}

void forget_known_stacks(ThreadState& thread) {
  if (thread.known_stacks == nullptr) return;
  munmap(thread.known_stacks, sizeof(KnownStacks));
  thread.known_stacks = nullptr;
  g_threads.fetch_sub(1);
}

}  // namespace capgate::preload
