// The parameters of a kernel launch that is in no graph.
#pragma once

#include <stdint.h>

namespace capgate::preload {

struct ThreadState;

// Of the driver's call that a launch is, or ends in. `call_seq`: of the outermost call.
void write_launch(ThreadState& thread, uint64_t call_seq, uint32_t cbid, const void* parameters);

}  // namespace capgate::preload
