// Stands before c10::reportMemoryUsageToProfiler of libc10.so, which PyTorch's caching allocator calls for
// each block that it hands out or takes back, under its lock. It passes everything on. Where the library was
// not loaded before PyTorch (by injection alone), nothing is seen, and the trace holds no torch.blocks.
//
// Other backends of the allocator do not call it: cudaMallocAsync's blocks are calls that CUDA sees.
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include <atomic>

#include "detector/preload/memory/pool_blocks.h"
#include "detector/preload/system/parts.h"
#include "detector/preload/writer/thread_state.h"
#include "detector/preload/writer/trace_file.h"

namespace capgate::preload {

// c10::Device: a type and an index, one byte each, passed in a register.
struct Device {
  int8_t type, index;
};

namespace {

constexpr int8_t kCuda = 1;

using Report = void (*)(void* start, int64_t bytes, size_t allocated, size_t reserved, Device device);
constexpr char kName[] = "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE";

std::atomic<Report> g_next{nullptr};

// PyTorch's own, which Python as a rule has loaded for itself alone. Asked once, at the first block: the
// loader's lock is taken inside the allocator's.
Report next_report(Report ours) {
  if (const Report next = g_next.load(std::memory_order_acquire)) return next;
  const int saved = errno;
  auto next = reinterpret_cast<Report>(dlsym(RTLD_NEXT, kName));
  if (next == nullptr) {
    void* lib = dlopen("libc10.so", RTLD_NOW | RTLD_NOLOAD);
    next = lib != nullptr ? reinterpret_cast<Report>(dlsym(lib, kName)) : nullptr;
  }
  errno = saved;
  if (next == ours) return nullptr;
  if (next != nullptr) g_next.store(next, std::memory_order_release);
  return next;
}

void note(uint64_t start, int64_t bytes, Device device, uint64_t entry) {
  if (!trace_live() || without(Part::pool_blocks)) return;
  ThreadState* thread = this_thread();
  if (thread == nullptr || thread->busy) return;
  const int saved = errno;
  Busy busy(*thread);
  const uint64_t outer = thread->entry;
  thread->entry = entry;
  if (bytes > 0)
    pool_block_born(*thread, {start, uint64_t(bytes), device.index, trace::Allocator::torch});
  else
    pool_block_died(*thread, start);
  thread->entry = outer;
  errno = saved;
}

}  // namespace
}  // namespace capgate::preload

extern "C" __attribute__((visibility("default"))) void _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE(
    void* start, int64_t bytes, size_t allocated, size_t reserved, capgate::preload::Device device) {
  namespace preload = capgate::preload;
  const preload::Report next = preload::next_report(&_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE);
  if (next != nullptr) next(start, bytes, allocated, reserved, device);
  if (device.type != preload::kCuda || start == nullptr || bytes == 0) return;
  const auto frame = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  preload::note(reinterpret_cast<uint64_t>(start), bytes, device, frame + sizeof(void*));
}
