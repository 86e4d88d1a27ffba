#include "detector/preload/process.h"

#include <cupti.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "detector/preload/api_calls.h"
#include "detector/preload/call_shape.h"
#include "detector/preload/captures.h"
#include "detector/preload/counters.h"
#include "detector/preload/cupti_api.h"
#include "detector/preload/driver_api.h"
#include "detector/preload/environment.h"
#include "detector/preload/host_place.h"
#include "detector/preload/modules.h"
#include "detector/preload/observer.h"
#include "detector/preload/parts.h"
#include "detector/preload/python_lines.h"
#include "detector/preload/ranges.h"
#include "detector/preload/resources.h"
#include "detector/preload/stacks.h"
#include "detector/preload/strings.h"
#include "detector/preload/sys.h"
#include "detector/preload/thread_state.h"
#include "detector/preload/trace_file.h"
#include "detector/preload/window.h"

extern "C" __attribute__((visibility("default"))) int InitializeInjection();

namespace capgate::preload {

extern std::atomic<bool> g_nvtx_seen;
void reset_nvtx_after_fork();

namespace {

constexpr uint64_t kDefaultLimitMb = 1024;
constexpr uint32_t kNewerIds = 384;  // how far beyond the table's ids a newer CUPTI is asked for names

std::atomic<bool> g_attached{false};
std::atomic<bool> g_devices_written{false};
std::atomic<bool> g_proof_written{false};
bool g_handlers_made = false;

// CAPGATE_UNTIL.
struct Until {
  uint64_t captures = 0, replays = 0, deadline_ns = 0;
} g_until;
std::atomic<uint64_t> g_captures{0}, g_replays{0};
std::atomic<bool> g_detach{false};     // asked for
std::atomic<bool> g_detaching{false};  // by one thread only: CUPTI is finalised once

uint64_t parse_number(const char* text) {
  uint64_t value = 0;
  for (; *text >= '0' && *text <= '9'; ++text) value = value * 10 + uint64_t(*text - '0');
  return value;
}

void read_until() {
  const char* text = setting("CAPGATE_UNTIL");
  g_until = {};
  if (strncmp(text, "captures=", 9) == 0) g_until.captures = parse_number(text + 9);
  if (strncmp(text, "replays=", 8) == 0) g_until.replays = parse_number(text + 8);
  if (strncmp(text, "seconds=", 8) == 0)
    g_until.deadline_ns = monotonic_ns() + parse_number(text + 8) * 1000000000u;
}

void write_end(ThreadState& thread, uint32_t how) {
  refresh_modules(thread);
  auto* record = reserve<trace::EndRecord>(thread);
  if (record == nullptr) return;
  record->t_ns = monotonic_ns();
  record->how = how;
  commit_record(record, trace::RecordType::end, sizeof(*record));
}

// No CUPTI and no CUDA from here: both may be half torn down.
void at_exit() {
  if (!trace_live()) return;
  ThreadState* thread = this_thread();
  if (thread == nullptr) return;
  Busy busy(*thread);
  write_end(*thread, 1);
  close_trace(trace::FileState::closed);
}

void after_fork_in_child() {
  drop_trace_after_fork();
  reset_threads_after_fork();
  reset_strings_after_fork();
  reset_stacks_after_fork();
  reset_python_after_fork();
  forget_modules_after_fork();
  reset_counters_after_fork();
  reset_captures_after_fork();
  reset_ranges_after_fork();
  reset_nvtx_after_fork();
  forget_subscriber_after_fork();
  reset_window_after_fork();
  reset_resources_after_fork();
  reset_calls_after_fork();
  g_attached.store(false);
  g_devices_written.store(false);
  g_proof_written.store(false);
  g_captures.store(0);
  g_replays.store(0);
  g_detach.store(false);
  g_detaching.store(false);
}

void detach(ThreadState& thread) {
  if (g_detaching.exchange(true)) return;
  auto* mark = reserve<trace::MarkRecord>(thread);
  if (mark != nullptr) {
    mark->t_ns = monotonic_ns();
    mark->op = uint16_t(trace::MarkOp::detach);
    commit_record(mark, trace::RecordType::mark, sizeof(*mark));
  }
  write_end(thread, 2);
  close_trace(trace::FileState::detached);
  unsubscribe();
}

// A CUPTI newer than the table knows calls that the table does not: those of a watched kind are watched by
// name.
void adopt_newer_calls(ThreadState& thread) {
  if (g_cupti.name == nullptr) return;
  for (uint32_t domain = 1; domain <= 2; ++domain) {
    const uint32_t first = call_ids(domain);
    for (uint32_t cbid = first; cbid < first + kNewerIds && cbid < kMaxIds; ++cbid) {
      const char* name = nullptr;
      if (g_cupti.name(CUpti_CallbackDomain(domain), cbid, &name) != CUPTI_SUCCESS || name == nullptr) break;
      if (strstr(name, "INVALID") != nullptr || strstr(name, "SIZE") != nullptr || *name == 0) break;
      const trace::Family family = family_of_name(domain, name);
      if (family == trace::Family::other) continue;
      if (family == trace::Family::count) {
        Text text;
        text << "unknown-cbid:" << (domain == 1 ? "driver:" : "runtime:") << uint64_t(cbid) << ":" << name;
        count(thread, text.c_str(), 0);
        continue;
      }
      adopt_call(domain, cbid, family);
    }
  }
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

// Calls that a program makes before any that are watched, most of them once: they tell a CUPTI that attached
// and stays deaf (it is older than the GPU, say) from a program that starts CUDA and then does nothing with
// it. While the driver initialises, a call of our own would go unseen.
void enable_proof() {
  for (const auto call :
       {CUPTI_DRIVER_TRACE_CBID_cuInit, CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion,
        CUPTI_DRIVER_TRACE_CBID_cuDeviceGet, CUPTI_DRIVER_TRACE_CBID_cuDeviceGetCount,
        CUPTI_DRIVER_TRACE_CBID_cuDeviceGetName, CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRetain})
    g_cupti.enable(1, subscriber(), CUPTI_CB_DOMAIN_DRIVER_API, call);
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
  enable_proof();
  enable_first_ids();
  refresh_modules(thread);  // CUPTI's own code must be known before the first stack
}

// At the driver's initialisation, on the thread that causes it.
void attach() {
  if (g_attached.exchange(true)) return;
  const char* dir = setting("CAPGATE_TRACE_DIR");
  if (*dir == 0) return;
  ThreadState* thread = this_thread();
  if (thread == nullptr || thread->busy) return;
  const Uncancelled uncancelled;
  Busy busy(*thread);
  uint64_t limit_mb = parse_number(setting("CAPGATE_TRACE_LIMIT_MB"));
  if (limit_mb == 0) limit_mb = kDefaultLimitMb;
  if (limit_mb < 8) limit_mb = 8;
  const char* why = "";
  if (!open_trace(dir, limit_mb << 20, &why)) {
    say(Text() << "no trace of this program can be written to " << dir << ": " << why
               << "; it runs on unwatched");
    return;
  }
  if (!g_handlers_made) {
    g_handlers_made = true;
    atexit(at_exit);
  }
  write_strings(*thread);
  write_process_facts(*thread);
  write_subjects(*thread);
  name_thread(*thread);
  write_meta(*thread, "nvtx", g_nvtx_seen.load() ? "injected" : "not used so far");
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

void prepare_for_forks() {
  pthread_atfork(nullptr, nullptr, after_fork_in_child);
}

void give_up(ThreadState& thread, const char* what, const char* why) {
  Text text;
  text << what << ": " << why;
  write_meta(thread, "gave-up", text.c_str());
  close_trace(trace::FileState::gave_up);
  say(Text() << "stopped watching: " << text.c_str());
}

void write_proof(ThreadState& thread) {
  if (!g_proof_written.load(std::memory_order_relaxed) && !g_proof_written.exchange(true))
    write_meta(thread, "cupti.proof", "a callback arrived");
}

void after_call(ThreadState& thread, bool has_context) {
  if (has_context && captures_open() == 0 && !g_devices_written.load(std::memory_order_relaxed) &&
      !g_devices_written.exchange(true))
    write_device_facts(thread);
  if (g_until.deadline_ns != 0 && !g_detach.load(std::memory_order_relaxed) &&
      monotonic_ns() >= g_until.deadline_ns)
    g_detach.store(true);
  // Between captures only: a capture that loses its watcher would look as if it had never ended.
  if (g_detach.load(std::memory_order_relaxed) && captures_open() == 0 && trace_live()) detach(thread);
}

void note_capture_done(ThreadState& thread, bool success) {
  (void)thread;
  if (success && g_captures.fetch_add(1) + 1 == g_until.captures) g_detach.store(true);
}

void note_replay(ThreadState& thread) {
  (void)thread;
  if (g_replays.fetch_add(1) + 1 == g_until.replays) g_detach.store(true);
}

}  // namespace capgate::preload

// The driver calls this while it initialises, when CUDA_INJECTION64_PATH names this library.
extern "C" int InitializeInjection() {
  const int saved = errno;
  capgate::preload::attach();
  capgate::preload::call_next_tool();
  errno = saved;
  return 1;
}
