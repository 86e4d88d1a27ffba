#include "detector/preload/calls/until.h"

#include "detector/preload/cuda/captures.h"
#include "detector/preload/cuda/cupti_api.h"
#include "detector/preload/system/at_fork.h"
#include "detector/preload/system/debug.h"
#include "detector/preload/system/sys.h"
#include "detector/preload/writer/thread_state.h"
#include "detector/preload/writer/trace_end.h"
#include "detector/preload/writer/trace_file.h"

namespace capgate::preload {
namespace {

struct Until {
  uint64_t captures = 0, replays = 0, deadline_ns = 0;
} g_until;
std::atomic<uint64_t> g_captures{0}, g_replays{0};
std::atomic<bool> g_detach{false};     // asked for
std::atomic<bool> g_detaching{false};  // by one thread only: CUPTI is finalised once

void detach(ThreadState& thread) {
  if (g_detaching.exchange(true)) return;
  if (debugging()) debug(Text() << "detaching: CAPGATE_UNTIL is reached");
  auto* mark = reserve<trace::MarkRecord>(thread);
  if (mark != nullptr) {
    mark->t_ns = monotonic_ns();
    mark->op = uint16_t(trace::MarkOp::detach);
    commit_record(thread, mark, trace::RecordType::mark, sizeof(*mark));
  }
  write_end(thread, 2);
  close_trace(trace::FileState::detached);
  unsubscribe();
}

void forget_in_child() {
  g_captures.store(0);
  g_replays.store(0);
  g_detach.store(false);
  g_detaching.store(false);
}

}  // namespace
CAPGATE_AFTER_FORK(forget_in_child)

void read_until() {
  const char* text = setting("CAPGATE_UNTIL");
  g_until = {};
  if (strncmp(text, "captures=", 9) == 0) g_until.captures = number_at(text + 9);
  if (strncmp(text, "replays=", 8) == 0) g_until.replays = number_at(text + 8);
  if (strncmp(text, "seconds=", 8) == 0)
    g_until.deadline_ns = monotonic_ns() + number_at(text + 8) * 1000000000u;
}

void note_capture_done(bool success) {
  if (success && g_captures.fetch_add(1) + 1 == g_until.captures) g_detach.store(true);
}

void note_replay() {
  if (g_replays.fetch_add(1) + 1 == g_until.replays) g_detach.store(true);
}

void detach_when_done(ThreadState& thread) {
  if (g_until.deadline_ns != 0 && !g_detach.load(std::memory_order_relaxed) &&
      monotonic_ns() >= g_until.deadline_ns)
    g_detach.store(true);
  // Between captures only: a capture that loses its watcher would look as if it had never ended.
  if (g_detach.load(std::memory_order_relaxed) && captures_open() == 0 && trace_live()) detach(thread);
}

}  // namespace capgate::preload
