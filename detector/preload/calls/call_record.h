// The record of one call: how it is filled and written.
#pragma once

#include <cupti_callbacks.h>
#include <stdint.h>

#include "detector/preload/table/call_shape.h"
#include "detector/trace/format.h"

namespace capgate::preload {

struct Frame;
struct ThreadState;

// String id of the call's name.
uint32_t call_name(ThreadState& thread, uint32_t domain, uint32_t cbid, const char* name);

void take_stacks(ThreadState& thread, trace::CallRecord& record);

// Where a call goes that names no stream of its own: CallFlag.
uint32_t stream_flags(const CallShape& shape, const Operands& operands);

// Written as pending. Null: there is no room.
trace::CallRecord* write_call(ThreadState& thread, Frame& frame, uint32_t domain, uint32_t cbid,
                              const CUpti_CallbackData& call, const Operands& operands, bool nested);

// What the runtime's callback did not tell of a launch and the driver's does.
void complete_launch(ThreadState& thread, trace::CallRecord& record, const CallShape& shape,
                     const CUpti_CallbackData& call);

// Code was loaded by a call that is not watched, a launch in a marked step as a rule: a record of its own
// says where. Its sequence number; 0 where nothing is judged or a call in flight says it.
uint64_t write_lazy_load(ThreadState& thread, uint64_t context);

}  // namespace capgate::preload
