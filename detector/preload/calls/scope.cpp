#include "detector/preload/calls/scope.h"

#include "detector/preload/cuda/captures.h"
#include "detector/preload/cuda/driver_api.h"
#include "detector/preload/marks/ranges.h"
#include "detector/preload/marks/sampled_steps.h"
#include "detector/preload/system/at_fork.h"
#include "detector/preload/table/families.h"
#include "detector/preload/writer/counters.h"
#include "detector/preload/writer/thread_state.h"
#include "detector/preload/writer/trace_file.h"

namespace capgate::preload {
namespace {

constexpr uint32_t kStacksOutside = 1000;  // a family, outside everything judged
constexpr uint32_t kRecordsOutside = 100000;
// Memory that comes and goes: a graph may hold any of it, and one free that is not seen makes the rest
// untrue.
constexpr uint32_t kRecordsOfMemory = 500000;
constexpr uint32_t kStacksOfMemory = 50000;
constexpr uint32_t kStacksOfEdits = 20000;  // of graphs that are built or changed node by node
constexpr uint32_t kPollsInARow = 64;
constexpr uint32_t kCallsInSteps = 50000;  // of one thread between its replays
constexpr uint32_t kStacksInSteps = 4000;

std::atomic<uint32_t> g_outside[size_t(Family::count)];

// Judged for no other reason than that the thread replays graphs: that goes on as long as a server lives.
bool in_step_only(const ThreadState& thread) {
  return captures_open() == 0 && thread.marked_ranges == 0 && !process_range_open() &&
         thread.verifications == 0;
}

void forget_in_child() {
  for (auto& slot : g_outside) slot.store(0);
}

}  // namespace
CAPGATE_AFTER_FORK(forget_in_child)

bool is_judged(const ThreadState& thread, Family family) {
  if (captures_open() != 0 || thread.verifications != 0) return true;
  if (family == Family::launch) return records_launches(thread);
  if (has_trait(family, trace::kOnlyCaptures)) return false;
  return thread.marked_ranges != 0 || process_range_open() || thread.launched_graph;
}

bool has_room(ThreadState& thread, Family family, bool judged) {
  if (has_trait(family, trace::kEdit)) {
    const bool room = !trace_is_filling() &&
                      g_outside[size_t(family)].fetch_add(1, std::memory_order_relaxed) < kRecordsOutside;
    if (!room) count(thread, "thinned:graph-edits");
    return room;
  }
  if (captures_open() != 0) return true;
  if (family == Family::launch && records_launches(thread)) return has_room_for_launch(thread);
  if (judged && in_step_only(thread) && has_trait(family, trace::kFrequent) &&
      ++thread.step_calls > kCallsInSteps) {
    count(thread, "thinned:step");
    return false;
  }
  if (trace_is_filling()) {
    const bool counted = judged || !has_trait(family, trace::kFrequent);
    if (counted) count(thread, "thinned:room");
    return family == Family::capture_begin || family == Family::capture_end;
  }
  if (judged) return true;
  if (has_trait(family, trace::kFrequent)) return false;
  const uint32_t most = is_memory(family) ? kRecordsOfMemory : kRecordsOutside;
  return g_outside[size_t(family)].fetch_add(1, std::memory_order_relaxed) < most;
}

bool is_repeated_poll(ThreadState& thread, Family family, uint32_t domain, uint32_t cbid) {
  const uint32_t key = domain << 16 | cbid;
  if (!is_poll(family)) {
    thread.polls = 0;
    return false;
  }
  if (thread.poll_key != key) thread.polls = 0;
  thread.poll_key = key;
  return ++thread.polls > kPollsInARow && captures_open() == 0;
}

bool wants_stack(const ThreadState& thread, const trace::CallRecord& record, Family family, bool judged) {
  if (family == Family::launch) {
    if (records_launches(thread) && (record.flags & trace::kCapturing) == 0) return true;
    if (thread.captures_open.load(std::memory_order_relaxed) == 0) return false;
    return (record.flags & trace::kLegacyStream) != 0 ||
           record.capture_status != CU_STREAM_CAPTURE_STATUS_ACTIVE;
  }
  if (family == Family::capture_begin || family == Family::capture_end) return true;
  if (has_trait(family, trace::kEdit))
    return g_outside[size_t(family)].load(std::memory_order_relaxed) <= kStacksOfEdits;
  if (judged) return !in_step_only(thread) || thread.step_calls <= kStacksInSteps;
  const uint32_t most = is_memory(family) ? kStacksOfMemory : kStacksOutside;
  return g_outside[size_t(family)].load(std::memory_order_relaxed) <= most;
}

}  // namespace capgate::preload
