// Stacks that a thread had before. Unwinding costs a search for every frame; a decode loop comes by the same
// frames at every step, and their return addresses lie where they lay: comparing them costs a load each.
//
// The same return addresses at the same places are the same stack: the size of a frame follows from the
// address in it, so that each address found proves where the next one lies. A function that makes room of
// varying size (alloca) finds its way back by a frame pointer instead, so saved frame pointers are compared
// as well.
#pragma once

#include <stdint.h>

namespace capgate::preload {

struct ThreadState;

inline constexpr uint32_t kMaxSlots = 112;

// A return address and where on the stack it was found.
struct ReturnSlot {
  uint64_t at;
  uint64_t ip;
  uint64_t frame;  // the caller's frame pointer, where it is saved beneath the return address; else 0
};

struct FoundStack {
  uint32_t id;  // 0: not known
  bool truncated;
};

// entry: where the callback's own return address lies, which is the first slot. cbid: of the call, to spread
// the places. until_python: how far the walk went.
FoundStack find_known_stack(const ThreadState& thread, uint64_t entry, uint32_t cbid, bool until_python);

// Keeps what an unwinding found. What lies outside the thread's own stack (a coroutine's) is not kept: its
// memory may be gone when it is compared.
void keep_stack(ThreadState& thread, const ReturnSlot* slots, uint32_t count, uint32_t cbid,
                bool until_python, FoundStack stack);

}  // namespace capgate::preload
