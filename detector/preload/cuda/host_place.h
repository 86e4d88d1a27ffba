// Where a host address lies.
#pragma once

#include <stdint.h>

#include "detector/trace/format.h"

namespace capgate::preload {

struct ThreadState;

// Once, before the first question.
void find_heap();

// Large blocks of malloc lie in mappings of their own and are told as such.
// True when the host can read the byte there. A device address that the driver only reserved is mapped, and
// is not.
bool host_readable(uint64_t address);

trace::HostPlace host_place(ThreadState& thread, uint64_t address);

}  // namespace capgate::preload
