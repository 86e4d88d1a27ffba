// What the library remembers of each thread. The thread-local storage holds one pointer to it.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <atomic>

#include "detector/trace/format.h"

namespace capgate::preload {

struct CallShape;

// A watched call in flight.
struct Frame {
  const CallShape* shape;
  trace::CallRecord* record;  // null: only counted
  uint64_t seq;
  uint64_t t_begin;
  uint64_t bytes;
  uint64_t stream;  // a null stream of the per-thread kind stands as 2
  uint64_t arg;
  uintptr_t depth;  // of the stack at enter: a call nested in this one stands deeper
  uint32_t domain, cbid, correlation, epoch;
  uint32_t name;
  bool judged;  // inside a capture window, a marked region or a step
};

// unasked: an NVTX range that nobody asked for, kept so that its pop finds it.
enum class RangeKind : uint8_t { unasked, region, bucket, set_bucket, allow, eager_break };

// An open NVTX or capgate.h range.
struct OpenRange {
  uint32_t name;    // region, bucket, rule or break name
  uint32_t second;  // domain of a region, reason of an allow
  RangeKind kind;
  bool written;  // its begin is in the trace
  uint8_t source;
  bool sampled;  // its launches are recorded
};

inline constexpr uint32_t kMaxFrames = 24;
inline constexpr uint32_t kMaxRanges = 96;

struct ThreadState {
  // What other threads look at, at any time. States are reused, and these are not simply zeroed then.
  ThreadState* next;                             // of all ever made; set once
  std::atomic<uintptr_t> stack_low, stack_high;  // high is 0 while not known, and while low changes
  std::atomic<uint32_t> tid, captures_open;      // captures begun by this thread

  // The thread's own, zero at first.
  uint8_t* cursor;  // of the chunk
  uint8_t* chunk_end;
  uint32_t generation;   // of the process: differs after a fork
  bool busy;             // the library is at work: calls that it makes itself are not the program's
  bool callback_thread;  // runs the program's host functions
  bool launched_graph;
  bool named;
  bool stack_asked;
  uint8_t mode;  // cudaStreamCaptureMode that it exchanged in
  uint8_t bucket_set;
  uint32_t depth;
  uint32_t ranges_open;  // may exceed kMaxRanges
  uint32_t marked_ranges;
  uint32_t unwritten_ranges;
  uint32_t verifications;  // begun by this thread, and not ended
  // Whose launches are recorded, see sampled_steps.h: open marked ranges, the step behind a launch of a
  // graph, the eager step of a verification and the one that is being loaded.
  uint32_t sampled_ranges;
  bool sampled_replay, sampled_eager, loads_sampled;
  uint32_t sampled_windows;   // that it holds open for them
  uint32_t sampled_launches;  // in the last one
  uint32_t step_calls;        // recorded only because it replays graphs
  uint32_t polls, poll_key;   // the same query, how many times in a row
  uint64_t entry;             // where the callback's return address lies; 0 outside callbacks
  void* pages;                // of give_pages()
  size_t page_bytes;
  ThreadState* next_free;
  Frame frames[kMaxFrames];
  OpenRange ranges[kMaxRanges];
};

// The calling thread's state, made on first use; null when there is no memory.
ThreadState* this_thread();

// The first of all states ever made, or null. States are never freed, only reused.
ThreadState* first_thread();

// Zeroed memory for known stacks, given back when the thread ends or forks. False: there is none, or too many
// threads have some already.
bool give_pages(ThreadState& thread, size_t bytes);

// From now on it is called for each thread that ends, by that thread. One function at most.
void on_thread_end(void (*leaves)(ThreadState& thread));

// Writes the thread's record once per trace.
void name_thread(ThreadState& thread);

// The calling thread's stack, asked once.
void find_stack_bounds(ThreadState& thread);

// Whether the address lies in a stack whose bounds were asked, of any thread that still runs.
bool on_a_stack(uint64_t address);

// While it lives, callbacks on this thread return at once.
class Busy {
 public:
  explicit Busy(ThreadState& thread) : thread_(thread), before_(thread.busy) { thread.busy = true; }
  ~Busy() { thread_.busy = before_; }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  ThreadState& thread_;
  bool before_;
};

}  // namespace capgate::preload
