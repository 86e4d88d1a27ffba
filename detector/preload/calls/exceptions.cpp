#include "detector/preload/calls/exceptions.h"

#include <errno.h>

#include "detector/preload/cuda/captures.h"
#include "detector/preload/python/python_exceptions.h"
#include "detector/preload/python/python_lines.h"
#include "detector/preload/stacks/stacks.h"
#include "detector/preload/system/at_fork.h"
#include "detector/preload/system/cxx_exceptions.h"
#include "detector/preload/system/parts.h"
#include "detector/preload/system/sys.h"
#include "detector/preload/writer/counters.h"
#include "detector/preload/writer/strings.h"
#include "detector/preload/writer/thread_state.h"
#include "detector/preload/writer/trace_file.h"

namespace capgate::preload {
namespace {

using trace::ExceptionEvent;
using trace::ExceptionLanguage;
using trace::ExceptionRecord;

// Some programs throw at every look-up that fails. The last one is the one that matters, so a later one is
// never left out for an earlier one: beyond these, only its stack is.
constexpr uint32_t kStacks = 1000;
constexpr uint32_t kRecords = 20000;
std::atomic<uint32_t> g_thrown{0};

void forget_after_fork() {
  g_thrown.store(0);
}
CAPGATE_AFTER_FORK(forget_after_fork)

uint32_t intern_text(ThreadState& thread, const char* text, size_t bytes) {
  return bytes != 0 ? intern(thread, text, bytes) : 0;
}

void write(ThreadState& thread, ExceptionRecord& filled) {
  if (!thread.named) name_thread(thread);
  auto* record = reserve<ExceptionRecord>(thread);
  if (record == nullptr) return;
  filled.t_ns = monotonic_ns();
  memcpy(reinterpret_cast<char*>(record) + sizeof(trace::RecordHeader),
         reinterpret_cast<const char*>(&filled) + sizeof(trace::RecordHeader),
         sizeof(filled) - sizeof(trace::RecordHeader));
  commit_record(thread, record, trace::RecordType::exception, sizeof(*record));
}

// The capture that the thread began last and that is still open; false: it has none.
bool own_capture(const ThreadState& thread, uint64_t* begin_seq) {
  return thread.captures_open.load(std::memory_order_relaxed) != 0 && newest_capture_of(thread, begin_seq);
}

void write_python(ThreadState& thread, ExceptionEvent event, uint64_t begin_seq, uint64_t exception) {
  PythonException read;
  if (!read_python_exception(python_state(), exception, &read)) return;
  if (event == ExceptionEvent::handled && read.left_with) event = ExceptionEvent::leaves;
  ExceptionRecord record{};
  record.begin_seq = begin_seq;
  record.object = exception;
  record.event = uint16_t(event);
  record.language = uint16_t(ExceptionLanguage::python);
  record.type = intern_text(thread, read.type, strlen(read.type));
  record.text = intern_text(thread, read.text, read.text_bytes);
  record.python_stack = python_stack_of_text(thread, read.stack, read.stack_bytes);
  write(thread, record);
}

}  // namespace

ExceptionsBefore exceptions_now() {
  ExceptionsBefore now{};
  handled_python_exceptions(python_state(), now.python, ExceptionsBefore::kMost);
  const CxxState cxx = cxx_state();
  now.cxx_caught = cxx.caught;
  now.cxx_uncaught = cxx.uncaught;
  return now;
}

void note_throw(uint64_t object, uint64_t type, const void* thrower) {
  if (!trace_live()) return;
  ThreadState* thread = this_thread();
  uint64_t begin_seq = 0;
  if (thread == nullptr || thread->busy || !own_capture(*thread, &begin_seq)) return;
  const uint32_t before = g_thrown.fetch_add(1, std::memory_order_relaxed);
  const int saved = errno;
  Busy busy(*thread);
  if (before >= kRecords) {
    count(*thread, "thinned:exceptions");
    errno = saved;
    return;
  }
  know_cxx_runtime(thrower);
  char text[1024];
  ExceptionRecord record{};
  record.begin_seq = begin_seq;
  record.object = object;
  record.event = uint16_t(ExceptionEvent::thrown);
  record.language = uint16_t(ExceptionLanguage::cxx);
  record.uncaught = cxx_state().uncaught;
  record.type = intern_text(*thread, text, cxx_type_name(type, text, sizeof(text)));
  record.text = intern_text(*thread, text, cxx_message(object, type, text, sizeof(text)));
  if (before < kStacks) {
    bool truncated = false;
    if (!without(Part::python_stacks)) record.python_stack = python_stack(*thread);
    if (!without(Part::native_stacks))
      record.stack = native_stack(*thread, &truncated, record.python_stack != 0);
  }
  write(*thread, record);
  errno = saved;
}

void note_exceptions_at_end(ThreadState& thread, const OpenCapture& capture) {
  if (capture.tid != thread.tid.load(std::memory_order_relaxed)) return;
  const ExceptionsBefore now = exceptions_now();
  const uint64_t python = now.python[0];
  bool earlier = python == 0;
  for (const uint64_t known : capture.before.python) earlier = earlier || known == python;
  if (!earlier) write_python(thread, ExceptionEvent::handled, capture.begin_seq, python);

  ExceptionRecord record{};
  record.begin_seq = capture.begin_seq;
  record.language = uint16_t(ExceptionLanguage::cxx);
  record.uncaught = now.cxx_uncaught;
  if (now.cxx_uncaught > capture.before.cxx_uncaught) {
    record.event = uint16_t(ExceptionEvent::leaves);
    write(thread, record);
  } else if (now.cxx_caught != 0 && now.cxx_caught != capture.before.cxx_caught) {
    record.event = uint16_t(ExceptionEvent::handled);
    record.object = now.cxx_caught;
    write(thread, record);
  }
}

void note_uncaught_python(ThreadState& thread, uint64_t exception) {
  uint64_t begin_seq = 0;
  if (!own_capture(thread, &begin_seq)) begin_seq = 0;
  write_python(thread, ExceptionEvent::uncaught, begin_seq, exception);
}

}  // namespace capgate::preload
