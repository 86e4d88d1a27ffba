#include "detector/preload/calls/api_calls.h"

#include "detector/preload/calls/call_shape.h"
#include "detector/preload/calls/deaths.h"
#include "detector/preload/calls/exceptions.h"
#include "detector/preload/calls/families.h"
#include "detector/preload/calls/ranges.h"
#include "detector/preload/calls/resources.h"
#include "detector/preload/calls/until.h"
#include "detector/preload/calls/window.h"
#include "detector/preload/cuda/captures.h"
#include "detector/preload/cuda/device_facts.h"
#include "detector/preload/cuda/driver_api.h"
#include "detector/preload/cuda/graph_dump.h"
#include "detector/preload/cuda/host_place.h"
#include "detector/preload/python/python_lines.h"
#include "detector/preload/stacks/stacks.h"
#include "detector/preload/system/at_fork.h"
#include "detector/preload/system/debug.h"
#include "detector/preload/system/parts.h"
#include "detector/preload/system/sys.h"
#include "detector/preload/writer/counters.h"
#include "detector/preload/writer/modules.h"
#include "detector/preload/writer/strings.h"
#include "detector/preload/writer/thread_state.h"
#include "detector/preload/writer/trace_file.h"

namespace capgate::preload {
namespace {

using trace::CallRecord;

constexpr uint32_t kDriver = CUPTI_CB_DOMAIN_DRIVER_API, kRuntime = CUPTI_CB_DOMAIN_RUNTIME_API;
constexpr uint32_t kStacksOutside = 1000;  // a family, outside everything judged
constexpr uint32_t kRecordsOutside = 100000;
constexpr uint32_t kPollsInARow = 64;
constexpr uint32_t kCallsInSteps = 50000;  // of one thread between its replays
constexpr uint32_t kStacksInSteps = 4000;

// cudaError_t and CUresult agree on these.
constexpr int32_t kNotReady = 600, kUnmatched = 903, kWrongThread = 908;

std::atomic<uint32_t> g_outside[size_t(Family::count)];
std::atomic<uint32_t> g_names[2][kMaxIds];

uint32_t call_name(ThreadState& thread, uint32_t domain, uint32_t cbid, const char* name) {
  std::atomic<uint32_t>& slot = g_names[domain - 1][cbid];
  uint32_t id = slot.load(std::memory_order_relaxed);
  if (id == 0) {
    id = intern(thread, name);
    slot.store(id, std::memory_order_relaxed);
  }
  return id;
}

// Frames whose exit will not come: their ids went off meanwhile, or the program left the call some other way.
// Better to call a nested call outermost than the reverse, which would hide everything after it.
void drop_stale_frames(ThreadState& thread, uint32_t domain, uintptr_t here) {
  const uint32_t epoch = window_epoch();
  for (uint32_t i = 0; i < thread.depth; ++i) {
    const Frame& frame = thread.frames[i];
    const bool switched_off = frame.epoch != epoch && (frame.shape->flags & kWindow) != 0;
    // The runtime calls the driver and never the other way round.
    const bool impossible = here >= frame.depth || (domain == kRuntime && frame.domain == kDriver);
    if (!switched_off && !impossible) continue;
    thread.depth = i;
    return;
  }
}

void take_stacks(ThreadState& thread, CallRecord& record) {
  bool truncated = false;
  if (python_was_mapped()) find_python(thread);
  if (!without(Part::python_stacks)) record.python_stack = python_stack(thread);
  if (!without(Part::native_stacks))
    record.stack = native_stack(thread, &truncated, record.python_stack != 0);
  if (truncated) record.flags |= trace::kStackTruncated;
}

void classify(ThreadState& thread, uint64_t address, uint8_t& memory, uint8_t& place) {
  const trace::Memory kind = memory_kind(address);
  memory = uint8_t(kind);
  if (kind == trace::Memory::pageable) place = uint8_t(host_place(thread, address));
}

// Where a call goes that names no stream of its own.
uint32_t stream_flags(const CallShape& shape, const Operands& operands) {
  uint32_t flags = 0;
  if (operands.has_stream) flags |= trace::kHasStreamArg;
  const bool per_thread = (shape.flags & kPerThread) != 0 || operands.stream == 2;
  if (per_thread) flags |= trace::kPerThreadStream;
  const bool names_default = operands.has_stream ? operands.stream <= 1 : (shape.flags & kImpliedStream) != 0;
  if (names_default && (!per_thread || operands.stream == 1)) flags |= trace::kLegacyStream;
  return flags;
}

uint64_t stream_key(uint64_t stream, uint32_t flags) {
  return stream == 0 && (flags & trace::kPerThreadStream) != 0 ? 2 : stream;
}

// Whether the call lies in something that is judged.
bool is_judged(const ThreadState& thread, Family family) {
  if (captures_open() != 0) return true;
  if (has_trait(family, trace::kOnlyCaptures)) return false;
  return thread.marked_ranges != 0 || process_range_open() || thread.launched_graph;
}

// Judged for no other reason than that the thread replays graphs: that goes on as long as a server lives.
bool in_step_only(const ThreadState& thread) {
  return captures_open() == 0 && thread.marked_ranges == 0 && !process_range_open();
}

// Whether a call outside captures may still be written, or only counted.
bool has_room(ThreadState& thread, Family family, bool judged) {
  if (captures_open() != 0) return true;
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
  return g_outside[size_t(family)].fetch_add(1, std::memory_order_relaxed) < kRecordsOutside;
}

// A busy wait would fill the trace with one and the same call.
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

bool wants_stack(const ThreadState& thread, const CallRecord& record, Family family, bool judged) {
  if (family == Family::launch) {
    if (thread.captures_open.load(std::memory_order_relaxed) == 0) return false;
    return (record.flags & trace::kLegacyStream) != 0 ||
           record.capture_status != CU_STREAM_CAPTURE_STATUS_ACTIVE;
  }
  if (family == Family::capture_begin || family == Family::capture_end) return true;
  if (judged) return !in_step_only(thread) || thread.step_calls <= kStacksInSteps;
  return g_outside[size_t(family)].load(std::memory_order_relaxed) <= kStacksOutside;
}

// Into the trace, under the number `seq`. Null: there is no room.
CallRecord* commit_call(ThreadState& thread, const CallRecord& filled, uint64_t seq) {
  auto* record = reserve<CallRecord>(thread);
  if (record == nullptr) return nullptr;
  memcpy(reinterpret_cast<char*>(record) + sizeof(trace::RecordHeader),
         reinterpret_cast<const char*>(&filled) + sizeof(trace::RecordHeader),
         sizeof(filled) - sizeof(trace::RecordHeader));
  commit_record(thread, record, trace::RecordType::call, sizeof(*record), seq);
  return record;
}

CallRecord* write_call(ThreadState& thread, Frame& frame, uint32_t domain, uint32_t cbid,
                       const CUpti_CallbackData& call, const Operands& operands, bool nested) {
  if (!thread.named) name_thread(thread);
  write_open_ranges(thread);
  const auto family = frame.shape->kind();
  // Everything that may write other records comes before the reservation: a chunk is filled in order.
  const uint32_t name = call_name(thread, domain, cbid, call.functionName);
  const uint32_t label = family == Family::launch ? intern(thread, call.symbolName) : 0;
  CallRecord filled{};
  filled.domain = domain;
  filled.cbid = cbid;
  filled.name = name;
  filled.label = label;
  filled.flags = stream_flags(*frame.shape, operands);
  if (nested) filled.flags |= trace::kNested;
  if (thread.callback_thread) filled.flags |= trace::kInCallback;
  filled.family = uint16_t(family);
  filled.thread_mode = thread.mode;
  filled.capture_status = 255;
  filled.result = trace::kPending;
  filled.context = reinterpret_cast<uint64_t>(call.context);
  filled.device = current_device(filled.context);
  filled.stream = operands.stream;
  filled.object = operands.object;
  filled.object2 = operands.object2;
  filled.dst = operands.dst;
  filled.src = operands.src;
  filled.bytes = operands.bytes;
  filled.arg = operands.arg;
  memcpy(filled.grid, operands.grid, sizeof(filled.grid));
  memcpy(filled.block, operands.block, sizeof(filled.block));
  filled.stream_device =
      operands.has_stream ? stream_device(operands.stream, filled.device) : trace::kNoDevice;
  if (nested) filled.outer_name = thread.frames[0].name;
  if (captures_open() != 0 && operands.has_stream && (filled.flags & trace::kLegacyStream) == 0) {
    const StreamCapture capture =
        stream_capture(operands.stream, (filled.flags & trace::kPerThreadStream) != 0);
    filled.capture_status = capture.status;
    filled.capture_id = capture.id;
    if (capture.status == CU_STREAM_CAPTURE_STATUS_ACTIVE) filled.flags |= trace::kCapturing;
  }
  if (is_copy(family) && !without(Part::operand_kinds)) {
    if (operands.dst != 0) classify(thread, operands.dst, filled.dst_memory, filled.dst_place);
    if (operands.src != 0) classify(thread, operands.src, filled.src_memory, filled.src_place);
  }
  if (wants_stack(thread, filled, family, frame.judged)) take_stacks(thread, filled);
  frame.seq = next_seq();
  return commit_call(thread, filled, frame.seq);
}

// What the runtime's callback did not tell of a launch and the driver's does.
void complete_launch(ThreadState& thread, CallRecord& record, const CallShape& shape,
                     const CUpti_CallbackData& call) {
  if (record.label == 0) record.label = intern(thread, call.symbolName);
  if (record.grid[0] != 0) return;
  Operands operands;
  read_operands(shape, call.functionParams, operands);
  memcpy(record.grid, operands.grid, sizeof(record.grid));
  memcpy(record.block, operands.block, sizeof(record.block));
}

void begin_capture(ThreadState& thread, const Frame& frame, uint32_t mode, uint64_t* capture_id) {
  const uint64_t stream = frame.stream;
  const StreamCapture now = stream_capture(stream, false);
  *capture_id = now.id;
  const bool followed =
      capture_begins({stream, now.id, frame.seq, thread.tid, mode, &thread, false, exceptions_now()});
  if (debugging())
    debug(Text() << "capture " << now.id << " begins"
                 << (followed ? "" : " and is not followed: too many are open"));
  if (followed) open_window();
}

void end_capture(ThreadState& thread, const Frame& frame, const CUpti_CallbackData& call, int32_t result,
                 uint64_t graph) {
  // These two leave the capture as it is: it belongs to another stream or thread.
  if (result == kUnmatched || result == kWrongThread) return;
  OpenCapture capture;
  if (!capture_ends(frame.stream, &capture)) return;
  note_exceptions_at_end(thread, capture);
  if (result != 0 && !capture.dead) tell_death(thread, capture, call.functionName, result);
  if (debugging())
    debug(Text() << "capture " << capture.id << " ends, result " << uint64_t(uint32_t(result)));
  write_capture(thread, capture, frame.seq, result == 0 ? graph : 0, result);
  close_window();
  note_capture_done(result == 0);
}

// What the call's success changes for the library itself.
void follow(ThreadState& thread, Frame& frame, const CUpti_CallbackData& call, int32_t result,
            uint64_t product) {
  const auto family = frame.shape->kind();
  if (family == Family::capture_end) {
    end_capture(thread, frame, call, result, product);
    return;
  }
  if (result != 0) {
    if (result == kNotReady) return;
    OpenCapture dead;
    while (captures_open() != 0 && capture_just_died(&dead))
      tell_death(thread, dead, call.functionName, result);
    return;
  }
  switch (family) {
    case Family::capture_begin: {
      uint64_t id = 0;
      begin_capture(thread, frame, uint32_t(frame.arg), &id);
      if (frame.record != nullptr) frame.record->capture_id = id;
      break;
    }
    case Family::capture_mode:
      thread.mode = uint8_t(frame.arg);
      break;
    case Family::graph_launch:
      thread.launched_graph = true;
      note_replay();
      break;
    case Family::stream_destroy: {
      OpenCapture lost;
      if (capture_ends(frame.stream, &lost)) close_window();
      break;
    }
    default:
      break;
  }
}

}  // namespace

void enter_call(ThreadState& thread, uint32_t domain, uint32_t cbid, const CUpti_CallbackData& call) {
  const CallShape* shape = call_shape(domain, cbid);
  if (shape == nullptr || !shape->watched()) return;
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  drop_stale_frames(thread, domain, here);
  if (thread.depth >= kMaxFrames) return;
  const bool nested = thread.depth > 0;
  Frame& frame = thread.frames[thread.depth++];
  const auto family = shape->kind();
  frame = {};
  frame.shape = shape;
  frame.domain = domain;
  frame.cbid = cbid;
  frame.correlation = call.correlationId;
  frame.depth = here;
  frame.epoch = window_epoch();
  if (nested) {
    const Frame& outer = thread.frames[0];
    frame.judged = outer.judged;
    if (family == Family::launch && outer.record != nullptr &&
        outer.record->family == uint16_t(Family::launch))
      complete_launch(thread, *outer.record, *shape, call);
    if (!outer.judged || !nested_tells(outer.shape->kind(), family)) return;
  } else {
    frame.judged = is_judged(thread, family);
    if (family == Family::launch && !frame.judged) {
      if (!window_open()) launch_outside_window();
      return;
    }
  }
  const bool record =
      has_room(thread, family, frame.judged) && !is_repeated_poll(thread, family, domain, cbid);
  Operands operands;
  if (record || is_copy(family) || has_trait(family, trace::kState)) {
    read_operands(*shape, call.functionParams, operands);
    frame.stream = stream_key(operands.stream, stream_flags(*shape, operands));
    frame.bytes = operands.bytes;
    frame.arg = operands.arg;
  }
  if (!record) {
    if (is_wait(family) || family == Family::memcpy_sync) frame.t_begin = monotonic_ns();
    return;
  }
  frame.name = call_name(thread, domain, cbid, call.functionName);
  frame.record = write_call(thread, frame, domain, cbid, call, operands, nested);
  // Our own work above is not the program's waiting time.
  if (frame.record != nullptr) frame.record->t_begin_ns = monotonic_ns();
}

void leave_call(ThreadState& thread, uint32_t domain, uint32_t cbid, const CUpti_CallbackData& call) {
  uint32_t at = thread.depth;
  while (at > 0) {
    const Frame& frame = thread.frames[at - 1];
    if (frame.cbid == cbid && frame.domain == domain && frame.correlation == call.correlationId) break;
    --at;
  }
  const int32_t result =
      call.functionReturnValue != nullptr ? *static_cast<const int32_t*>(call.functionReturnValue) : 0;
  if (at == 0) {  // its ids went on while it was in flight
    const CallShape* shape = call_shape(domain, cbid);
    if (shape != nullptr && shape->watched() && thread.depth == 0) count(thread, "enter-missed");
    return;
  }
  Frame& frame = thread.frames[at - 1];
  thread.depth = at;  // what stands above never saw its exit
  // Where a failed call should have put its product nothing may be, not even memory.
  const uint64_t product = result == 0 ? read_product(*frame.shape, call.functionParams) : 0;
  CallRecord* record = frame.record;
  const auto family = frame.shape->kind();
  if (record != nullptr && trace_live()) {
    record->t_end_ns = has_trait(family, trace::kUntimed) ? record->t_begin_ns : monotonic_ns();
    if (result != 0 && result != kNotReady && record->stack == 0) take_stacks(thread, *record);
    if (result == 0) record->out = product;
    if (record->context == 0 && call.context != nullptr) {
      record->context = reinterpret_cast<uint64_t>(call.context);
      record->device = current_device(record->context);
    }
    record->seq_end = next_seq();
    __atomic_store_n(&record->result, result, __ATOMIC_RELEASE);
  } else if (at == 1 &&
             (frame.shape->flags & kWindow) == 0) {  // those that go on and off have no honest count
    const uint64_t blocked = frame.t_begin != 0 ? monotonic_ns() - frame.t_begin : 0;
    count_call(thread, domain, cbid, call.functionName, is_copy(family) ? frame.bytes : 0, blocked);
  }
  if (at == 1) follow(thread, frame, call, result, product);
  thread.depth = at - 1;
  if (at != 1) return;
  // A query of the devices would be one more call inside somebody's capture.
  if (call.context != nullptr && captures_open() == 0) write_device_facts(thread);
  detach_when_done(thread);
}

uint64_t write_lazy_load(ThreadState& thread, uint64_t context) {
  if (thread.depth != 0 || captures_open() != 0 || !trace_live()) return 0;
  if (thread.marked_ranges == 0 && !process_range_open()) return 0;
  if (!has_room(thread, Family::module_load, true)) return 0;
  if (!thread.named) name_thread(thread);
  write_open_ranges(thread);
  CallRecord filled{};
  filled.domain = kDriver;
  filled.name = intern(thread, "lazy loading");
  filled.family = uint16_t(Family::module_load);
  filled.thread_mode = thread.mode;
  filled.capture_status = 255;
  filled.context = context;
  filled.device = current_device(context);
  filled.stream_device = trace::kNoDevice;
  filled.t_begin_ns = filled.t_end_ns = monotonic_ns();
  take_stacks(thread, filled);
  const uint64_t seq = next_seq();
  filled.seq_end = next_seq();
  return commit_call(thread, filled, seq) != nullptr ? seq : 0;
}

uint64_t call_in_flight(const ThreadState& thread) {
  return thread.depth > 0 ? thread.frames[0].seq : 0;
}

namespace {
void forget_in_child() {
  for (auto& slot : g_outside) slot.store(0);
}
}  // namespace
CAPGATE_AFTER_FORK(forget_in_child)

}  // namespace capgate::preload
