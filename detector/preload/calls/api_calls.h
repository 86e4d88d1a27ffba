// Enter and exit of one watched CUDA call.
#pragma once

#include <cupti_callbacks.h>
#include <stdint.h>

namespace capgate::preload {

struct ThreadState;

void enter_call(ThreadState& thread, uint32_t domain, uint32_t cbid, const CUpti_CallbackData& call);
void leave_call(ThreadState& thread, uint32_t domain, uint32_t cbid, const CUpti_CallbackData& call);

// The sequence number of the outermost call in flight on the thread, 0 when there is none that is recorded.
uint64_t call_in_flight(const ThreadState& thread);

// Code was loaded by a call that is not watched, a launch in a marked step as a rule: a record of its own
// says where. Its sequence number; 0 where nothing is judged or a call in flight says it.
uint64_t write_lazy_load(ThreadState& thread, uint64_t context);

}  // namespace capgate::preload
