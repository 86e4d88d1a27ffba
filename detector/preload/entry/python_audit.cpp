// What the interpreter reports to audit hooks (PEP 578): an exception that it prints because nobody caught
// it, and the notices that torch.compile logs when it goes without CUDA graphs.
//
// Rules of this file. The hook runs inside the interpreter, at each of its audit events, in every Python
// process under an audit. It looks at the event's name and returns: nothing is made, kept or called, but for
// the two events below once a trace is written. It never reports an error, which would be an exception to the
// program.
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "detector/preload/calls/exceptions.h"
#include "detector/preload/python/python_exceptions.h"
#include "detector/preload/python/python_layout.h"
#include "detector/preload/python/python_lines.h"
#include "detector/preload/python/python_values.h"
#include "detector/preload/system/parts.h"
#include "detector/preload/system/sys.h"
#include "detector/preload/writer/strings.h"
#include "detector/preload/writer/thread_state.h"
#include "detector/preload/writer/trace_file.h"

namespace capgate::preload {
namespace {

using Hook = int (*)(const char* event, void* arguments, void* user_data);
using AddHook = int (*)(Hook, void* user_data);

constexpr uint32_t kMostNotices = 1000;
std::atomic<uint32_t> g_notices{0};

// Functions whose first argument is what is about to be logged, or that log what they say themselves.
struct Speaker {
  const char* file;  // how its path ends
  const char* function;
  trace::NoticeKind kind;
};
constexpr Speaker kSpeakers[] = {
    {"torch/_inductor/cudagraph_utils.py", "log_cudagraph_skip_and_bump_counter",
     trace::NoticeKind::capture_skipped},
    {"torch/_inductor/cudagraph_utils.py", "maybe_warning_due_to_dynamic_shape",
     trace::NoticeKind::many_recordings},
};

bool ends_with(const char* text, size_t bytes, const char* end) {
  const size_t n = strlen(end);
  return bytes >= n && memcmp(text + bytes - n, end, n) == 0;
}

const Speaker* speaker_of(const char* code) {
  char name[64], file[512];
  // Programs ask for frames often. The length alone sorts out nearly all of them.
  const uint64_t length =
      python_load(python_pointer(code, g_python_layout.name), g_python_layout.text_length);
  for (const Speaker& speaker : kSpeakers) {
    if (length != strlen(speaker.function)) continue;
    const size_t n = read_python_string(python_load(code, g_python_layout.name), name, sizeof(name));
    if (n != length || memcmp(name, speaker.function, n) != 0) continue;
    const size_t bytes = read_python_string(python_load(code, g_python_layout.filename), file, sizeof(file));
    if (ends_with(file, bytes, speaker.file)) return &speaker;
  }
  return nullptr;
}

// The message: what Logger.warning() was given, in the frame that the speaker called.
size_t message_of(const void* logging_frame, char* out, size_t size) {
  const uint64_t message = python_local(logging_frame, 1);  // behind self
  return read_python_string(message, out, size);
}

void write_notice(ThreadState& thread, const Speaker& speaker, const char* text, size_t bytes) {
  const uint32_t text_id = intern(thread, text, bytes);
  const uint32_t stack = without(Part::python_stacks) ? 0 : python_stack(thread);
  if (!thread.named) name_thread(thread);
  auto* record = reserve<trace::NoticeRecord>(thread);
  if (record == nullptr) return;
  record->t_ns = monotonic_ns();
  record->kind = uint16_t(speaker.kind);
  record->text = text_id;
  record->python_stack = stack;
  commit_record(thread, record, trace::RecordType::notice, sizeof(*record));
}

// The logging module asks for a frame whenever it is going to log: who logs is then one of the next frames
// out.
void logger_asks(ThreadState& thread) {
  constexpr int kNear = 8;
  void* state = python_state();
  if (state == nullptr) return;
  const void* inner = nullptr;
  int depth = 0;
  for (void* frame = innermost_python_frame(state); frame != nullptr && depth < kNear;
       frame = python_pointer(frame, g_python_layout.back)) {
    const char* code = python_code(frame);
    if (code == nullptr) continue;
    ++depth;
    if (const Speaker* speaker = speaker_of(code); speaker != nullptr && inner != nullptr) {
      char text[4096];
      const size_t bytes = message_of(inner, text, sizeof(text));
      if (bytes != 0 && g_notices.fetch_add(1, std::memory_order_relaxed) < kMostNotices)
        write_notice(thread, *speaker, text, bytes);
      return;
    }
    inner = frame;
  }
}

int on_audit(const char* event, void* arguments, void*) {
  if (event == nullptr || event[0] != 's' || !trace_live()) return 0;
  const bool frame = strcmp(event, "sys._getframe") == 0;
  if (!frame && strcmp(event, "sys.excepthook") != 0) return 0;
  const int saved = errno;
  ThreadState* thread = this_thread();
  if (thread != nullptr && !thread->busy) {
    Busy busy(*thread);
    constexpr size_t kException = 2;  // behind the hook and the exception's type
    if (frame)
      logger_asks(*thread);
    else
      note_uncaught_python(*thread, python_tuple_item(reinterpret_cast<uint64_t>(arguments), kException));
  }
  errno = saved;
  return 0;
}

// Before the interpreter starts: then nothing runs that adding a hook could disturb.
__attribute__((constructor)) void hook_python_audit() {
  if (*setting("CAPGATE_TRACE_DIR") == 0) return;
  read_parts();
  if (without(Part::audit_hook)) return;
  const auto add = reinterpret_cast<AddHook>(dlsym(RTLD_DEFAULT, "PySys_AddAuditHook"));
  if (add == nullptr) {
    dlerror();  // what it says of this look-up is not the program's to read
    return;
  }
  if (add(on_audit, nullptr) == 0) python_is_audited();
}

}  // namespace
}  // namespace capgate::preload
