#include "detector/preload/memory/host_watch.h"

#include <errno.h>

#include "detector/preload/cuda/driver_api.h"
#include "detector/preload/python/python_lines.h"
#include "detector/preload/stacks/stacks.h"
#include "detector/preload/system/at_fork.h"
#include "detector/preload/system/parts.h"
#include "detector/preload/system/sys.h"
#include "detector/preload/writer/modules.h"
#include "detector/preload/writer/thread_state.h"
#include "detector/preload/writer/trace_file.h"
#include "detector/trace/host_watch.h"

namespace capgate::preload {
namespace {

constexpr uint32_t kMost = 256;

struct Watched {
  uint64_t address, number;
  uint64_t call_seq;  // 0: not a block of the trace
};

SpinLock g_lock;
Watched g_watched[kMost];
uint64_t g_numbers = 0;

// Under the lock.
void set_bounds() {
  uint64_t low = ~uint64_t(0), high = 0;
  const uint32_t n = capgate_host_watch.count.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < n; ++i) {
    if (g_watched[i].address < low) low = g_watched[i].address;
    if (g_watched[i].address > high) high = g_watched[i].address;
  }
  capgate_host_watch.low.store(low, std::memory_order_relaxed);
  capgate_host_watch.high.store(high, std::memory_order_relaxed);
}

// Under the lock. Null: there is no room.
Watched* add(uint64_t address, uint64_t call_seq) {
  const uint32_t n = capgate_host_watch.count.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < n; ++i)
    if (g_watched[i].address == address && (g_watched[i].call_seq != 0) == (call_seq != 0))
      return &g_watched[i];
  if (n == kMost) return nullptr;
  g_watched[n] = {address, ++g_numbers, call_seq};
  capgate_host_watch.count.store(n + 1, std::memory_order_release);
  set_bounds();
  return &g_watched[n];
}

bool take(uint64_t start, uint64_t bytes, Watched* taken) {
  Locked locked(g_lock);
  const uint32_t n = capgate_host_watch.count.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < n; ++i) {
    if (g_watched[i].address < start || g_watched[i].address - start >= bytes) continue;
    *taken = g_watched[i];
    g_watched[i] = g_watched[n - 1];
    capgate_host_watch.count.store(n - 1, std::memory_order_release);
    set_bounds();
    return true;
  }
  return false;
}

void write(ThreadState& thread, const Watched& watched, trace::BlockOp op) {
  uint32_t python = 0, native = 0;
  bool truncated = false;
  if (python_was_mapped()) find_python(thread);
  if (!without(Part::python_stacks)) python = python_stack(thread);
  if (!without(Part::native_stacks)) native = native_stack(thread, &truncated, python != 0);
  auto* record = reserve<trace::PoolBlockRecord>(thread);
  if (record == nullptr) return;
  record->start = watched.address;
  record->bytes = 1;
  record->born_seq = watched.call_seq;
  record->device = trace::kNoDevice;
  record->op = uint16_t(op);
  record->allocator = uint16_t(trace::Allocator::host);
  record->stack = native;
  record->python_stack = python;
  commit_record(thread, record, trace::RecordType::pool_block, sizeof(*record));
}

void gone(uint64_t start, uint64_t bytes, uint64_t entry) {
  if (!trace_live()) return;
  ThreadState* thread = this_thread();
  if (thread == nullptr || thread->busy) return;
  const int saved = errno;
  Busy busy(*thread);
  const uint64_t outer = thread->entry;
  thread->entry = entry;
  for (Watched watched; take(start, bytes, &watched);)
    if (watched.call_seq != 0) write(*thread, watched, trace::BlockOp::died);
  thread->entry = outer;
  errno = saved;
}

}  // namespace

bool host_watch_on() {
  return capgate_host_watch.present.load(std::memory_order_relaxed);
}

uint64_t watch_host_address(uint64_t address) {
  Locked locked(g_lock);
  const Watched* watched = add(address, 0);
  return watched != nullptr ? watched->number : 0;
}

bool is_still_watched(uint64_t address, uint64_t number) {
  Locked locked(g_lock);
  const uint32_t n = capgate_host_watch.count.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < n; ++i)
    if (g_watched[i].address == address && g_watched[i].number == number) return true;
  return false;
}

void watch_callback_data(ThreadState& thread, uint64_t address, uint64_t call_seq) {
  if (!host_watch_on() || address == 0 || memory_kind(address) != trace::Memory::pageable) return;
  {
    Locked locked(g_lock);
    const Watched* watched = add(address, call_seq);
    if (watched == nullptr || watched->call_seq != call_seq) return;  // known already, or no room
  }
  write(thread, {address, 0, call_seq}, trace::BlockOp::born);
}

namespace {
void forget_in_child() {
  g_lock.reset();
  capgate_host_watch.count.store(0);
}
}  // namespace
CAPGATE_AFTER_FORK(forget_in_child)

}  // namespace capgate::preload

capgate::preload::HostWatch capgate_host_watch = {{false}, {0}, {0}, {0}, capgate::preload::gone};
