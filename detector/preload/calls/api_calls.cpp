#include "detector/preload/calls/api_calls.h"

#include "detector/preload/calls/call_record.h"
#include "detector/preload/calls/consequences.h"
#include "detector/preload/calls/graph_calls.h"
#include "detector/preload/calls/launches.h"
#include "detector/preload/calls/scope.h"
#include "detector/preload/calls/until.h"
#include "detector/preload/cuda/captures.h"
#include "detector/preload/cuda/device_facts.h"
#include "detector/preload/cuda/driver_api.h"
#include "detector/preload/marks/sampled_steps.h"
#include "detector/preload/memory/host_operands.h"
#include "detector/preload/system/sys.h"
#include "detector/preload/table/call_shape.h"
#include "detector/preload/table/families.h"
#include "detector/preload/table/window.h"
#include "detector/preload/writer/counters.h"
#include "detector/preload/writer/thread_state.h"
#include "detector/preload/writer/trace_file.h"
#include "detector/trace/cuda_results.h"

namespace capgate::preload {
namespace {

constexpr uint32_t kDriver = CUPTI_CB_DOMAIN_DRIVER_API, kRuntime = CUPTI_CB_DOMAIN_RUNTIME_API;

// Frames whose exit will not come: their ids went off meanwhile, or the program left the call some other way.
// Taking a nested call for an outermost one is harmless; the reverse would hide all later calls.
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

// Its parameters, where it is the driver's call.
void add_launch(ThreadState& thread, const trace::CallRecord& outermost, uint64_t seq, uint32_t domain,
                uint32_t cbid, const CUpti_CallbackData& call) {
  if (domain == kDriver && records_launches(thread) && (outermost.flags & trace::kCapturing) == 0)
    write_launch(thread, seq, cbid, call.functionParams);
}

uint64_t stream_key(uint64_t stream, uint32_t flags) {
  return stream == 0 && (flags & trace::kPerThreadStream) != 0 ? 2 : stream;
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
        outer.record->family == uint16_t(Family::launch)) {
      complete_launch(thread, *outer.record, *shape, call);
      add_launch(thread, *outer.record, outer.seq, domain, cbid, call);
    }
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
  if (family == Family::graph_launch) check_operands(thread, frame.seq);
  if (family == Family::launch && !nested && frame.record != nullptr)
    add_launch(thread, *frame.record, frame.seq, domain, cbid, call);
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
  trace::CallRecord* record = frame.record;
  const auto family = frame.shape->kind();
  if (record != nullptr && trace_live()) {
    record->t_end_ns = has_trait(family, trace::kUntimed) ? record->t_begin_ns : monotonic_ns();
    if (result != 0 && result != trace::kNotReady && record->stack == 0) take_stacks(thread, *record);
    if (result == 0) record->out = product;
    if (const uint64_t bytes = result == 0 ? read_given_bytes(*frame.shape, call.functionParams) : 0;
        bytes != 0)
      record->bytes = bytes;
    if (family == Family::peer && result == 0 && product != 0) record->bytes = memory_bytes(product);
    if (result != 0) write_graph_refusal(*record, *frame.shape, call.functionParams);
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
  note_graph_details(thread, frame, call, result);
  if (at == 1) follow(thread, frame, call, result, product);
  thread.depth = at - 1;
  if (at != 1) return;
  // A query of the devices would be one more call inside somebody's capture.
  if (call.context != nullptr && captures_open() == 0) write_device_facts(thread);
  detach_when_done(thread);
}

uint64_t call_in_flight(const ThreadState& thread) {
  return thread.depth > 0 ? thread.frames[0].seq : 0;
}

}  // namespace capgate::preload
