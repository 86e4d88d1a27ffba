#include "detector/preload/marks/sampled_steps.h"

#include "detector/preload/system/at_fork.h"
#include "detector/preload/table/window.h"
#include "detector/preload/writer/counters.h"
#include "detector/preload/writer/trace_file.h"

namespace capgate::preload {
namespace {

constexpr uint32_t kMaxKinds = 1024;  // steps and graphs that are told apart; others are not sampled
constexpr uint32_t kMostLaunchesOfStep = 20000, kMostLaunches = 200000;

struct Kind {
  std::atomic<uint64_t> key;
  std::atomic<uint32_t> times;
};
Kind g_kinds[kMaxKinds];
std::atomic<uint32_t> g_launches{0};

bool is_sampled(uint32_t time) {  // from 1
  return time <= 3 || (time & (time - 1)) == 0;
}

// How many steps of this kind there were, this one included; 0: nobody knows.
uint32_t count_step(uint64_t key) {
  constexpr uint32_t kTries = 16;
  const uint64_t hash = key * 0x9e3779b97f4a7c15ULL;
  for (uint32_t i = 0; i < kTries; ++i) {
    Kind& kind = g_kinds[((hash >> 48) + i) % kMaxKinds];
    uint64_t there = kind.key.load(std::memory_order_relaxed);
    if (there == 0 && kind.key.compare_exchange_strong(there, key)) there = key;
    if (there == key) return kind.times.fetch_add(1, std::memory_order_relaxed) + 1;
  }
  return 0;
}

bool starts_sample(uint64_t key) {
  const uint32_t time = count_step(key);
  return time != 0 && is_sampled(time) && trace_live() && !trace_is_filling() &&
         g_launches.load(std::memory_order_relaxed) < kMostLaunches;
}

// A thread that ends in a sampled step must not leave the frequent callbacks on for all others.
void close_windows(ThreadState& thread) {
  for (; thread.sampled_windows > 0; --thread.sampled_windows) close_window();
}

void open_sample(ThreadState& thread) {
  on_thread_end(close_windows);
  ++thread.sampled_windows;
  thread.sampled_launches = 0;
  open_window();
}

void close_sample(ThreadState& thread) {
  if (thread.sampled_windows == 0) return;
  --thread.sampled_windows;
  close_window();
}

}  // namespace

bool sampled_step_begins(ThreadState& thread, uint64_t step) {
  if (thread.verifications != 0 || !starts_sample(step | uint64_t{1} << 63)) return false;
  ++thread.sampled_ranges;
  open_sample(thread);
  return true;
}

void sampled_step_ends(ThreadState& thread) {
  if (thread.sampled_ranges == 0) return;
  --thread.sampled_ranges;
  close_sample(thread);
}

bool replay_begins(ThreadState& thread, uint64_t exec) {
  const bool before = thread.sampled_replay;
  thread.sampled_replay = thread.verifications == 0 && exec != 0 && starts_sample(exec);
  if (thread.sampled_replay) open_sample(thread);
  if (before) close_sample(thread);
  return thread.sampled_replay;
}

bool has_room_for_launch(ThreadState& thread) {
  if (!trace_is_filling() && ++thread.sampled_launches <= kMostLaunchesOfStep &&
      g_launches.fetch_add(1, std::memory_order_relaxed) < kMostLaunches)
    return true;
  count(thread, "thinned:launch");
  return false;
}

namespace {
void forget_in_child() {
  for (Kind& kind : g_kinds) kind.key.store(0), kind.times.store(0);
  g_launches.store(0);
}
}  // namespace
CAPGATE_AFTER_FORK(forget_in_child)

}  // namespace capgate::preload
