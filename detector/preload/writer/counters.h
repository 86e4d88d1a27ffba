// Calls that are counted and not recorded. A counter is a record in the trace that grows in place, so that it
// is right however the program ends.
#pragma once

#include <stdint.h>

namespace capgate::preload {

struct ThreadState;

// One call of a callback id, named "call:cudaMemcpyAsync".
void count_call(ThreadState& thread, uint32_t domain, uint32_t cbid, const char* name, uint64_t bytes,
                uint64_t blocked_ns);

// One event under a name of its own ("thinned:event_record"). For rare things.
void count(ThreadState& thread, const char* name, uint64_t value = 1);

}  // namespace capgate::preload
