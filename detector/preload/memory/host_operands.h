// Pageable memory that a captured copy names. CUDA takes it and the graph keeps the address: whether the
// memory still is what it was decides how bad that is, and only this process can tell.
//
// What can be told without watching malloc: the frame of the function that owns a variable on the stack still
// stands, or the mapping of a large block of malloc's is still there. Asked at each launch, of all captured
// copies that are left.
#pragma once

#include <stdint.h>

#include "detector/trace/format.h"

namespace capgate::preload {

struct ThreadState;

// After the copy's record was written.
void watch_operands(ThreadState& thread, const trace::CallRecord& copy);

// Before a graph is launched: what has gone since is written, once each.
void check_operands(ThreadState& thread, uint64_t launch_seq);

}  // namespace capgate::preload
