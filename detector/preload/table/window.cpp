#include "detector/preload/table/window.h"

#include "detector/preload/cuda/cupti_api.h"
#include "detector/preload/system/at_fork.h"
#include "detector/preload/system/debug.h"
#include "detector/preload/system/parts.h"
#include "detector/preload/system/sys.h"
#include "detector/preload/table/call_shape.h"

namespace capgate::preload {
namespace {

constexpr uint32_t kIdleLaunches = 64;
constexpr uint64_t kPatienceNs = 2000000;

std::atomic<int32_t> g_open{0};
std::atomic<bool> g_idle{true};
std::atomic<bool> g_enabled{false};
std::atomic<uint32_t> g_idle_launches{0};
std::atomic<uint32_t> g_epoch{0};
SpinLock g_turn;  // CUPTI wants enabling serialised; nobody waits for it without a limit

bool wanted() {
  return g_open.load() > 0 || !g_idle.load();
}

void switch_ids(uint8_t flag, bool on) {
  uint64_t switched = 0, refused = 0;
  for (uint32_t domain = 1; domain <= 2; ++domain) {
    for (uint32_t cbid = 1; cbid < kMaxIds; ++cbid) {
      const CallShape* shape = call_shape(domain, cbid);
      if (shape == nullptr || (shape->flags & flag) == 0) continue;
      const bool done =
          g_cupti.enable(on ? 1 : 0, subscriber(), CUpti_CallbackDomain(domain), cbid) == CUPTI_SUCCESS;
      ++(done ? switched : refused);
    }
  }
  if (debugging())
    debug(Text() << switched << ((flag & kWindow) != 0 ? " frequent" : "") << " ids switched "
                 << (on ? "on" : "off") << ", " << refused << " refused by CUPTI");
}

// Brings the ids to what is wanted. When another thread is at it, that thread does this one's share too, and
// this one waits a little for it, so that its own first launches are seen.
void settle() {
  if (subscriber() == nullptr || without(Part::callbacks)) return;
  const uint64_t start = monotonic_ns();
  while (g_enabled.load() != wanted()) {
    if (g_turn.try_lock()) {
      const bool on = wanted();
      if (g_enabled.load() != on) {
        switch_ids(kWindow, on);
        g_enabled.store(on);
        if (!on) g_epoch.fetch_add(1);
      }
      g_turn.unlock();
    } else if (monotonic_ns() - start > kPatienceNs) {
      return;
    } else {
      sched_yield();
    }
  }
}

}  // namespace

void enable_first_ids() {
  switch_ids(kAlways, true);
}

void open_window() {
  g_open.fetch_add(1);
  g_idle.store(false);
  g_idle_launches.store(0, std::memory_order_relaxed);
  settle();
}

void close_window() {
  g_open.fetch_sub(1);
}

bool window_open() {
  return g_open.load(std::memory_order_relaxed) > 0;
}

void launch_outside_window() {
  if (g_idle_launches.fetch_add(1, std::memory_order_relaxed) + 1 != kIdleLaunches) return;
  g_idle.store(true);
  settle();
}

uint32_t window_epoch() {
  return g_epoch.load(std::memory_order_relaxed);
}

namespace {
void forget_in_child() {
  g_turn.reset();
  g_open.store(0);
  g_idle.store(true);
  g_enabled.store(false);
  g_idle_launches.store(0);
}
}  // namespace
CAPGATE_AFTER_FORK(forget_in_child)

}  // namespace capgate::preload
