#include "detector/preload/writer/trace_end.h"

#include <stdlib.h>

#include "detector/preload/system/debug.h"
#include "detector/preload/system/sys.h"
#include "detector/preload/writer/modules.h"
#include "detector/preload/writer/thread_state.h"
#include "detector/preload/writer/trace_file.h"

namespace capgate::preload {
namespace {

std::atomic<bool> g_registered{false};  // inherited by a forked child, as the handler is

// No CUPTI and no CUDA from here: both may be half torn down.
void at_exit() {
  if (!trace_live()) return;
  ThreadState* thread = this_thread();
  if (thread == nullptr) return;
  Busy busy(*thread);
  if (debugging()) debug(Text() << "the process ends");
  write_end(*thread, 1);
  close_trace(trace::FileState::closed);
}

}  // namespace

void write_end(ThreadState& thread, uint32_t how) {
  refresh_modules(thread);
  auto* record = reserve<trace::EndRecord>(thread);
  if (record == nullptr) return;
  record->t_ns = monotonic_ns();
  record->how = how;
  commit_record(thread, record, trace::RecordType::end, sizeof(*record));
}

void note_leaving(ThreadState& thread) {
  auto* record = reserve<trace::EndRecord>(thread);
  if (record == nullptr) return;
  record->t_ns = monotonic_ns();
  record->how = 3;
  commit_record(thread, record, trace::RecordType::end, sizeof(*record));
}

void give_up(ThreadState& thread, const char* what, const char* why) {
  Text text;
  text << what << ": " << why;
  write_meta(thread, "gave-up", text.c_str());
  close_trace(trace::FileState::gave_up);
  say(Text() << "stopped watching: " << text.c_str());
}

void close_trace_at_exit() {
  if (!g_registered.exchange(true)) atexit(at_exit);
}

}  // namespace capgate::preload
