// The start of it all: the driver calls InitializeInjection while it initialises, when CUDA_INJECTION64_PATH
// names this library.
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>

#include "detector/preload/calls/resources.h"
#include "detector/preload/calls/until.h"
#include "detector/preload/cuda/cupti_api.h"
#include "detector/preload/cuda/device_facts.h"
#include "detector/preload/cuda/driver_api.h"
#include "detector/preload/cuda/first_callback.h"
#include "detector/preload/cuda/host_place.h"
#include "detector/preload/entry/leave.h"
#include "detector/preload/entry/nvtx.h"
#include "detector/preload/entry/observer.h"
#include "detector/preload/entry/process_facts.h"
#include "detector/preload/marks/ranges.h"
#include "detector/preload/python/python_lines.h"
#include "detector/preload/stacks/stacks.h"
#include "detector/preload/system/at_fork.h"
#include "detector/preload/system/debug.h"
#include "detector/preload/system/parts.h"
#include "detector/preload/system/sys.h"
#include "detector/preload/table/call_shape.h"
#include "detector/preload/table/newer_calls.h"
#include "detector/preload/table/window.h"
#include "detector/preload/writer/modules.h"
#include "detector/preload/writer/strings.h"
#include "detector/preload/writer/thread_state.h"
#include "detector/preload/writer/trace_end.h"
#include "detector/preload/writer/trace_file.h"

extern "C" __attribute__((visibility("default"))) int InitializeInjection();

namespace capgate::preload {
namespace {

constexpr uint64_t kDefaultLimitMb = 1024;

std::atomic<bool> g_attached{false};

void forget_in_child() {
  g_attached.store(false);
}

void write_cupti_state(ThreadState& thread, Attach state, const char* detail) {
  Text text;
  switch (state) {
    case Attach::attached:
      text << "attached";
      break;
    case Attach::held:
      text << "held-by:" << detail;
      break;
    case Attach::unavailable:
      text << "unavailable";
      break;
  }
  write_meta(thread, "cupti.state", text.c_str());
  if (state == Attach::unavailable) write_meta(thread, "cupti.error", detail);
}

void attach_cupti(ThreadState& thread) {
  char path[PATH_MAX], detail[512];
  if (!open_cupti(path, sizeof(path))) {
    const char* why =
        path[0] != 0 ? "this libcupti lacks functions that are needed" : "libcupti was not found";
    write_cupti_state(thread, Attach::unavailable, why);
    say(Text() << "cannot watch this program: " << why);
    return;
  }
  write_meta(thread, "cupti.path", path);
  uint32_t version = 0;
  if (g_cupti.version != nullptr && g_cupti.version(&version) == CUPTI_SUCCESS) {
    Text text;
    text << uint64_t(version);
    write_meta(thread, "cupti.version", text.c_str());
  }
  const Attach state = subscribe(on_callback, detail, sizeof(detail));
  write_cupti_state(thread, state, detail);
  if (state == Attach::held) say(Text() << "cannot watch this program: " << detail << " holds CUPTI already");
  if (state == Attach::unavailable) say(Text() << "cannot watch this program: " << detail);
  if (state != Attach::attached) return;
  adopt_newer_calls(thread);
  if (without(Part::callbacks)) return;
  enable_resources();
  watch_first_calls();
  enable_first_ids();
  refresh_modules(thread);  // CUPTI's own code must be known before the first stack
}

// At the driver's initialisation, on the thread that causes it.
void attach() {
  if (g_attached.exchange(true)) return;
  read_debug();
  const char* dir = setting("CAPGATE_TRACE_DIR");
  if (debugging())
    debug(Text() << "the CUDA driver initialises; "
                 << (*dir != 0 ? "traces go to " : "CAPGATE_TRACE_DIR is not set: nothing is recorded")
                 << dir);
  if (*dir == 0) return;
  ThreadState* thread = this_thread();
  if (thread == nullptr || thread->busy) return;
  const Uncancelled uncancelled;
  Busy busy(*thread);
  uint64_t limit_mb = number_at(setting("CAPGATE_TRACE_LIMIT_MB"));
  if (limit_mb == 0) limit_mb = kDefaultLimitMb;
  if (limit_mb < 8) limit_mb = 8;
  const char* why = "";
  if (!open_trace(dir, limit_mb << 20, &why)) {
    say(Text() << "no trace of this program can be written to " << dir << ": " << why
               << "; it runs on unwatched");
    return;
  }
  close_trace_at_exit();
  // Only a library that was preloaded stands before libc.
  if (dlsym(RTLD_DEFAULT, "_exit") == own_exit()) write_meta(*thread, "end", "seen");
  write_strings(*thread);
  write_process_facts(*thread);
  write_subjects(*thread);
  name_thread(*thread);
  write_meta(*thread, "nvtx", nvtx_seen() ? "injected" : "not used so far");
  if (dlsym(RTLD_DEFAULT, "__asan_init") != nullptr) {
    give_up(*thread, "this program runs under AddressSanitizer", "the two cannot share a process");
    return;
  }
  if (!find_driver()) {
    give_up(*thread, "libcuda.so.1 is not in this process", "the driver was loaded under another name");
    return;
  }
  refresh_modules(*thread);
  find_stack_bounds(*thread);  // takes memory, which is better done here than in a callback
  if (!warm_up_stacks()) write_meta(*thread, "stacks", "libgcc_s.so.1 could not be loaded: no native stacks");
  read_parts();
  find_heap();
  find_runtime();
  find_python(*thread);
  read_until();
  write_open_ranges(*thread);
  write_started_ranges(*thread);
  attach_cupti(*thread);
}

// The tool that stood in CUDA_INJECTION64_PATH before us.
void call_next_tool() {
  const char* path = setting("CAPGATE_NEXT_INJECTION");
  if (*path == 0) return;
  void* lib = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  auto init = lib != nullptr ? reinterpret_cast<int (*)()>(dlsym(lib, "InitializeInjection")) : nullptr;
  if (init == nullptr) {
    say(Text() << "the CUDA tool " << path << " could not be loaded");
    return;
  }
  if (init != InitializeInjection) init();  // ourselves, under another name
}

}  // namespace
CAPGATE_AFTER_FORK(forget_in_child)

}  // namespace capgate::preload

extern "C" int InitializeInjection() {
  const int saved = errno;
  capgate::preload::attach();
  capgate::preload::call_next_tool();
  errno = saved;
  return 1;
}
