// Where a host address lies.
#pragma once

#include <stdint.h>

#include "detector/trace/format.h"

namespace capgate::preload {

struct ThreadState;

// Once, before the first question.
void find_heap();

// Large blocks of malloc lie in mappings of their own and are told as such.
trace::HostPlace host_place(ThreadState& thread, uint64_t address);

}  // namespace capgate::preload
