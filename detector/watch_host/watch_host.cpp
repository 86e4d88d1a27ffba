// The library of `capgate audit --watch-host`. It stands before free, realloc and munmap, goes on to whoever
// comes next, and tells the preloaded library of memory that goes away while that library waits for some. It
// allocates nothing and takes no lock. The preloaded library itself stands before none of them: programs that
// bring an allocator of their own are audited without this one.
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "detector/trace/host_watch.h"

namespace {

using capgate::preload::HostWatch;

std::atomic<HostWatch*> g_watch{nullptr};
__thread bool t_asking __attribute__((tls_model("initial-exec"))) = false;

// Null while this thread asks the loader, which may itself free something.
template <class Function>
Function next(std::atomic<Function>& slot, const char* name) {
  Function known = slot.load(std::memory_order_acquire);
  if (known != nullptr || t_asking) return known;
  t_asking = true;
  const int saved = errno;
  known = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
  errno = saved;
  t_asking = false;
  slot.store(known, std::memory_order_release);
  return known;
}

std::atomic<void (*)(void*)> g_free{nullptr};
std::atomic<void* (*)(void*, size_t)> g_realloc{nullptr};
std::atomic<int (*)(void*, size_t)> g_munmap{nullptr};

// Null unless the block may hold an address that is waited for.
HostWatch* waits_for(const void* block) {
  HostWatch* watch = g_watch.load(std::memory_order_relaxed);
  if (watch == nullptr || watch->count.load(std::memory_order_relaxed) == 0) return nullptr;
  return reinterpret_cast<uint64_t>(block) <= watch->high.load(std::memory_order_relaxed) ? watch : nullptr;
}

void tell(HostWatch& watch, const void* block, size_t bytes, const void* frame) {
  const auto start = reinterpret_cast<uint64_t>(block);
  if (start + bytes > watch.low.load(std::memory_order_relaxed))
    watch.gone(start, bytes, reinterpret_cast<uint64_t>(frame) + sizeof(void*));
}

__attribute__((constructor)) void find_the_detector() {
  auto* watch = static_cast<HostWatch*>(dlsym(RTLD_DEFAULT, "capgate_host_watch"));
  if (watch == nullptr) return;
  watch->present.store(true);
  g_watch.store(watch, std::memory_order_release);
}

}  // namespace

#define CAPGATE_SEEN extern "C" __attribute__((visibility("default"), used))

CAPGATE_SEEN void free(void* block) {
  const auto real = next(g_free, "free");
  if (real == nullptr || block == nullptr) return;
  if (HostWatch* watch = waits_for(block))
    tell(*watch, block, malloc_usable_size(block), __builtin_frame_address(0));
  real(block);
}

CAPGATE_SEEN void* realloc(void* block, size_t bytes) {
  const auto real = next(g_realloc, "realloc");
  if (real == nullptr) return nullptr;
  HostWatch* watch = block != nullptr ? waits_for(block) : nullptr;
  const size_t before = watch != nullptr ? malloc_usable_size(block) : 0;
  void* now = real(block, bytes);
  if (watch != nullptr && now != block && (now != nullptr || bytes == 0))
    tell(*watch, block, before, __builtin_frame_address(0));
  return now;
}

CAPGATE_SEEN int munmap(void* start, size_t bytes) {
  const auto real = next(g_munmap, "munmap");
  const int result = real != nullptr ? real(start, bytes) : int(syscall(SYS_munmap, start, bytes));
  if (result == 0)
    if (HostWatch* watch = waits_for(start)) tell(*watch, start, bytes, __builtin_frame_address(0));
  return result;
}
