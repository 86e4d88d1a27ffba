#include "detector/preload/cuda/captures.h"

#include "detector/preload/cuda/driver_api.h"
#include "detector/preload/system/at_fork.h"
#include "detector/preload/system/sys.h"
#include "detector/preload/writer/thread_state.h"

namespace capgate::preload {
namespace {

constexpr uint32_t kMaxOpen = 512;

SpinLock g_lock;
OpenCapture g_captures[kMaxOpen];
std::atomic<uint32_t> g_count{0};

// Not below 0: the thread that began may have made room for another one meanwhile.
void count_down(std::atomic<uint32_t>& count) {
  uint32_t n = count.load(std::memory_order_relaxed);
  while (n > 0 && !count.compare_exchange_weak(n, n - 1, std::memory_order_relaxed)) {
  }
}

}  // namespace

uint32_t captures_open() {
  return g_count.load(std::memory_order_relaxed);
}

bool capture_begins(const OpenCapture& capture) {
  Locked locked(g_lock);
  const uint32_t n = g_count.load();
  if (n == kMaxOpen) return false;
  g_captures[n] = capture;
  capture.thread->captures_open.fetch_add(1, std::memory_order_relaxed);
  g_count.store(n + 1);
  return true;
}

bool capture_ends(uint64_t stream, OpenCapture* out) {
  Locked locked(g_lock);
  const uint32_t n = g_count.load();
  for (uint32_t i = n; i-- > 0;) {
    if (g_captures[i].stream != stream) continue;
    *out = g_captures[i];
    g_captures[i] = g_captures[n - 1];
    g_count.store(n - 1);
    if (out->thread->tid.load(std::memory_order_relaxed) == out->tid) count_down(out->thread->captures_open);
    return true;
  }
  return false;
}

bool newest_capture_of(const ThreadState& thread, uint64_t* begin_seq) {
  const uint32_t tid = thread.tid.load(std::memory_order_relaxed);
  Locked locked(g_lock);
  bool found = false;
  for (uint32_t i = 0; i < g_count.load(); ++i) {
    if (g_captures[i].tid != tid || (found && g_captures[i].begin_seq < *begin_seq)) continue;
    *begin_seq = g_captures[i].begin_seq;
    found = true;
  }
  return found;
}

bool capture_just_died(OpenCapture* out) {
  // The driver is asked without the lock; a capture that ends meanwhile is simply not found again.
  for (uint32_t i = 0; i < captures_open(); ++i) {
    OpenCapture capture;
    {
      Locked locked(g_lock);
      if (i >= g_count.load()) return false;
      capture = g_captures[i];
    }
    if (capture.dead) continue;
    if (stream_capture(capture.stream, false).status != CU_STREAM_CAPTURE_STATUS_INVALIDATED) continue;
    Locked locked(g_lock);
    for (uint32_t k = 0; k < g_count.load(); ++k) {
      if (g_captures[k].begin_seq != capture.begin_seq || g_captures[k].dead) continue;
      g_captures[k].dead = true;
      *out = capture;
      return true;
    }
  }
  return false;
}

namespace {
void forget_in_child() {
  g_lock.reset();
  g_count.store(0);
}
}  // namespace
CAPGATE_AFTER_FORK(forget_in_child)

}  // namespace capgate::preload
