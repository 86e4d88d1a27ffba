#include "detector/preload/calls/call_record.h"

#include "detector/preload/calls/resources.h"
#include "detector/preload/calls/scope.h"
#include "detector/preload/cuda/captures.h"
#include "detector/preload/cuda/driver_api.h"
#include "detector/preload/cuda/host_place.h"
#include "detector/preload/marks/ranges.h"
#include "detector/preload/memory/host_operands.h"
#include "detector/preload/stacks/stacks.h"
#include "detector/preload/system/parts.h"
#include "detector/preload/system/sys.h"
#include "detector/preload/table/families.h"
#include "detector/preload/writer/strings.h"
#include "detector/preload/writer/thread_state.h"
#include "detector/preload/writer/trace_file.h"

namespace capgate::preload {
namespace {

using trace::CallRecord;

std::atomic<uint32_t> g_names[2][kMaxIds];

void classify(ThreadState& thread, uint64_t address, uint8_t& memory, uint8_t& place) {
  const trace::Memory kind = memory_kind(address);
  memory = uint8_t(kind);
  if (kind == trace::Memory::pageable) place = uint8_t(host_place(thread, address));
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

}  // namespace

uint32_t call_name(ThreadState& thread, uint32_t domain, uint32_t cbid, const char* name) {
  std::atomic<uint32_t>& slot = g_names[domain - 1][cbid];
  uint32_t id = slot.load(std::memory_order_relaxed);
  if (id == 0) {
    id = intern(thread, name);
    slot.store(id, std::memory_order_relaxed);
  }
  return id;
}

void take_stacks(ThreadState& thread, CallRecord& record) {
  const BothStacks stacks = both_stacks(thread);
  record.stack = stacks.native;
  record.python_stack = stacks.python;
  if (stacks.truncated) record.flags |= trace::kStackTruncated;
}

uint32_t stream_flags(const CallShape& shape, const Operands& operands) {
  uint32_t flags = 0;
  if (operands.has_stream) flags |= trace::kHasStreamArg;
  const bool per_thread = (shape.flags & kPerThread) != 0 || operands.stream == 2;
  if (per_thread) flags |= trace::kPerThreadStream;
  const bool names_default = operands.has_stream ? operands.stream <= 1 : (shape.flags & kImpliedStream) != 0;
  if (names_default && (!per_thread || operands.stream == 1)) flags |= trace::kLegacyStream;
  return flags;
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
  CallRecord* record = commit_call(thread, filled, frame.seq);
  if (record != nullptr && family == Family::memcpy_async) watch_operands(thread, *record);
  return record;
}

void complete_launch(ThreadState& thread, CallRecord& record, const CallShape& shape,
                     const CUpti_CallbackData& call) {
  if (record.label == 0) record.label = intern(thread, call.symbolName);
  if (record.grid[0] != 0) return;
  Operands operands;
  read_operands(shape, call.functionParams, operands);
  memcpy(record.grid, operands.grid, sizeof(record.grid));
  memcpy(record.block, operands.block, sizeof(record.block));
}

uint64_t write_lazy_load(ThreadState& thread, uint64_t context) {
  if (thread.depth != 0 || captures_open() != 0 || !trace_live()) return 0;
  if (thread.marked_ranges == 0 && !process_range_open()) return 0;
  if (!has_room(thread, Family::module_load, true)) return 0;
  if (!thread.named) name_thread(thread);
  write_open_ranges(thread);
  CallRecord filled{};
  filled.domain = CUPTI_CB_DOMAIN_DRIVER_API;
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

}  // namespace capgate::preload
