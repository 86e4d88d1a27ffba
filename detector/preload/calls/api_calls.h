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

}  // namespace capgate::preload
