#include "detector/preload/writer/thread_state.h"

#include <errno.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "detector/preload/system/at_fork.h"
#include "detector/preload/system/sys.h"
#include "detector/preload/writer/strings.h"
#include "detector/preload/writer/trace_file.h"

namespace capgate::preload {
namespace {

// The one pointer of thread-local storage. Initial-exec: eight bytes fit in what the loader keeps for dlopen.
__attribute__((tls_model("initial-exec"))) thread_local ThreadState* t_state = nullptr;

SpinLock g_lock;
ThreadState* g_free = nullptr;
std::atomic<ThreadState*> g_all{nullptr};
uint8_t* g_slab = nullptr;
uint8_t* g_slab_end = nullptr;
uint32_t g_generation = 1;
pthread_key_t g_key;
bool g_key_made = false;

constexpr size_t kSlabBytes = 1 << 20;

// Threads beyond these unwind each stack anew. 22 MiB if all of them have every place in use.
constexpr uint32_t kMaxThreadsWithPages = 64;
std::atomic<uint32_t> g_threads_with_pages{0};
std::atomic<void (*)(ThreadState&)> g_leaves{nullptr};

void take_back_pages(ThreadState& thread) {
  if (thread.pages == nullptr) return;
  munmap(thread.pages, thread.page_bytes);
  thread.pages = nullptr;
  g_threads_with_pages.fetch_sub(1);
}

void forget_stack_bounds(ThreadState& thread) {
  thread.stack_high.store(0, std::memory_order_relaxed);
  thread.stack_low.store(0, std::memory_order_release);
}

void thread_ends(void* state) {
  auto* thread = static_cast<ThreadState*>(state);
  if (const auto leaves = g_leaves.load(std::memory_order_acquire)) leaves(*thread);
  t_state = nullptr;
  take_back_pages(*thread);
  Locked locked(g_lock);
  abandon_chunk(*thread);
  thread->tid.store(0, std::memory_order_relaxed);
  forget_stack_bounds(*thread);
  thread->next_free = g_free;
  g_free = thread;
}

ThreadState* new_state() {
  Locked locked(g_lock);
  if (!g_key_made) {
    g_key_made = pthread_key_create(&g_key, thread_ends) == 0;
    prepare_for_forks();
  }
  if (ThreadState* state = g_free) {
    g_free = state->next_free;
    forget_stack_bounds(*state);
    state->captures_open.store(0, std::memory_order_relaxed);
    memset(static_cast<void*>(&state->cursor), 0, sizeof(*state) - offsetof(ThreadState, cursor));
    return state;
  }
  if (g_slab == nullptr || size_t(g_slab_end - g_slab) < sizeof(ThreadState)) {
    g_slab = static_cast<uint8_t*>(map_memory(kSlabBytes));
    if (g_slab == nullptr) return nullptr;
    g_slab_end = g_slab + kSlabBytes;
  }
  auto* state = reinterpret_cast<ThreadState*>(g_slab);  // fresh pages are zero
  g_slab += (sizeof(ThreadState) + 63) & ~size_t(63);
  state->next = g_all.load(std::memory_order_relaxed);
  g_all.store(state, std::memory_order_release);
  return state;
}

}  // namespace

ThreadState* this_thread() {
  ThreadState* state = t_state;
  if (state != nullptr && state->generation == g_generation) return state;
  const int saved = errno;
  if (state == nullptr) {
    state = new_state();
    if (state == nullptr) return nullptr;
    t_state = state;
    if (g_key_made) pthread_setspecific(g_key, state);
  } else {  // the thread that forked, in the child
    state->cursor = state->chunk_end = nullptr;
    state->depth = 0;
    state->captures_open.store(0, std::memory_order_relaxed);
    state->named = state->busy = state->launched_graph = false;
    state->sampled_replay = state->sampled_eager = state->loads_sampled = false;
    state->verifications = state->sampled_ranges = state->sampled_windows = 0;
    take_back_pages(*state);
    for (uint32_t i = 0; i < state->ranges_open && i < kMaxRanges; ++i) {
      // What the parent wrote stands in its trace; a child that makes one of its own says it again.
      if (state->ranges[i].written) ++state->unwritten_ranges;
      state->ranges[i].written = state->ranges[i].sampled = false;
    }
  }
  state->generation = g_generation;
  state->tid.store(uint32_t(syscall(SYS_gettid)), std::memory_order_relaxed);
  errno = saved;
  return state;
}

ThreadState* first_thread() {
  return g_all.load(std::memory_order_acquire);
}

bool give_pages(ThreadState& thread, size_t bytes) {
  if (thread.pages != nullptr) return true;
  if (g_threads_with_pages.fetch_add(1) >= kMaxThreadsWithPages) {
    g_threads_with_pages.fetch_sub(1);
    return false;
  }
  thread.pages = map_memory(bytes);
  thread.page_bytes = bytes;
  if (thread.pages == nullptr) g_threads_with_pages.fetch_sub(1);
  return thread.pages != nullptr;
}

void on_thread_end(void (*leaves)(ThreadState& thread)) {
  g_leaves.store(leaves, std::memory_order_release);
}

void name_thread(ThreadState& thread) {
  thread.named = true;
  char name[17] = {};
  if (prctl(PR_GET_NAME, name) != 0) return;
  // CUDA runs host functions and stream callbacks on threads of this name.
  thread.callback_thread = strncmp(name, "cuda-EvtHandlr", 14) == 0;
  const uint32_t id = intern(thread, name, strlen(name));
  auto* record = reserve<trace::ThreadRecord>(thread);
  if (record == nullptr) return;
  record->tid = thread.tid.load(std::memory_order_relaxed);
  record->name = id;
  commit_record(thread, record, trace::RecordType::thread, sizeof(*record));
}

void find_stack_bounds(ThreadState& thread) {
  if (thread.stack_asked) return;
  thread.stack_asked = true;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  void* low = nullptr;
  size_t bytes = 0;
  if (pthread_attr_getstack(&attributes, &low, &bytes) == 0) {
    const auto first = reinterpret_cast<uintptr_t>(low);
    thread.stack_low.store(first, std::memory_order_release);
    thread.stack_high.store(first + bytes, std::memory_order_release);
  }
  pthread_attr_destroy(&attributes);
}

bool on_a_stack(uint64_t address) {
  for (ThreadState* thread = first_thread(); thread != nullptr; thread = thread->next) {
    const uintptr_t high = thread->stack_high.load(std::memory_order_acquire);
    if (address >= high || address < thread->stack_low.load(std::memory_order_acquire)) continue;
    // The same as before: the low end is that of the same stack.
    if (thread->stack_high.load(std::memory_order_relaxed) == high) return true;
  }
  return false;
}

namespace {
void forget_in_child() {
  g_lock.reset();
  ++g_generation;
  // Every other thread is gone; their states can serve again.
  g_free = nullptr;
  for (ThreadState* state = first_thread(); state != nullptr; state = state->next) {
    if (state == t_state) continue;
    state->next_free = g_free;
    g_free = state;
  }
}
}  // namespace
CAPGATE_AFTER_FORK(forget_in_child)

}  // namespace capgate::preload
