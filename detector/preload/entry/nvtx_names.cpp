#include "detector/preload/entry/nvtx_names.h"

#include <string.h>

#include <atomic>

#include "detector/preload/system/at_fork.h"
#include "detector/preload/system/sys.h"

namespace capgate::preload {

namespace {

// What a handle of NVTX stands for: a domain's or a registered string's text.
struct Named {
  std::atomic<const void*> handle{nullptr};
  std::atomic<const char*> text{nullptr};
};
constexpr uint32_t kSlots = 16384;
std::atomic<Named*> g_named{nullptr};
SpinLock g_lock;
char* g_arena = nullptr;
size_t g_arena_left = 0;

// Distinct texts. They live as long as the process; what comes after the last place is nameless.
constexpr uint32_t kTexts = 8192;
constexpr size_t kMaxKept = 1024;
const char** g_texts = nullptr;
uint32_t g_text_count = 0;

const char* keep_new(const char* text, size_t length) {
  const size_t bytes = length + 1;
  if (g_arena_left < bytes) {
    g_arena_left = bytes > (64u << 10) ? bytes : 64u << 10;
    g_arena = static_cast<char*>(map_memory(g_arena_left));
    if (g_arena == nullptr) {
      g_arena_left = 0;
      return "";
    }
  }
  char* out = g_arena;
  memcpy(out, text, length);
  g_arena += bytes;
  g_arena_left -= bytes;
  return out;
}

// A program may register the same text at every step.
const char* keep(const char* text) {
  size_t length = strlen(text);
  if (length > kMaxKept) length = kMaxKept;
  if (g_texts == nullptr) g_texts = static_cast<const char**>(map_memory(kTexts * sizeof(*g_texts)));
  if (g_texts == nullptr) return "";
  uint32_t at = uint32_t(hash_bytes(text, length)) % kTexts;
  for (; g_texts[at] != nullptr; at = (at + 1) % kTexts)
    if (strncmp(g_texts[at], text, length) == 0 && g_texts[at][length] == 0) return g_texts[at];
  if (g_text_count >= kTexts / 4 * 3) return "";
  const char* kept = keep_new(text, length);
  if (*kept != 0 || length == 0) {
    g_texts[at] = kept;
    ++g_text_count;
  }
  return kept;
}

uint32_t slot_of(const void* handle) {
  return uint32_t(hash_bytes(static_cast<const void*>(&handle), sizeof(handle))) % kSlots;
}

void forget_in_child() {
  g_lock.reset();
}

}  // namespace
CAPGATE_AFTER_FORK(forget_in_child)

const void* remember_name(const void* handle, const char* text) {
  Locked locked(g_lock);
  Named* all = g_named.load(std::memory_order_relaxed);
  if (all == nullptr) all = static_cast<Named*>(map_memory(kSlots * sizeof(Named)));
  if (all == nullptr) return handle;
  g_named.store(all, std::memory_order_release);
  const char* kept = keep(text);
  if (handle == nullptr) handle = kept;
  uint32_t at = slot_of(handle);
  for (uint32_t tries = 0; tries < kSlots; ++tries, at = (at + 1) % kSlots) {
    const void* held = all[at].handle.load(std::memory_order_relaxed);
    if (held != nullptr && held != handle) continue;
    all[at].text.store(kept, std::memory_order_release);
    all[at].handle.store(handle, std::memory_order_release);
    break;
  }
  return handle;
}

const char* name_of(const void* handle) {
  const Named* all = g_named.load(std::memory_order_acquire);
  if (handle == nullptr || all == nullptr) return nullptr;
  uint32_t at = slot_of(handle);
  for (uint32_t tries = 0; tries < kSlots; ++tries, at = (at + 1) % kSlots) {
    const void* held = all[at].handle.load(std::memory_order_acquire);
    if (held == handle) return all[at].text.load(std::memory_order_acquire);
    if (held == nullptr) return nullptr;
  }
  return nullptr;
}

}  // namespace capgate::preload
