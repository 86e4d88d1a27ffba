// Host memory that a graph refers to and that goes away by free() or munmap(), as the opt-in library of
// --watch-host reports it. Without that library nothing is watched and nothing is written.
#pragma once

#include <stdint.h>

namespace capgate::preload {

struct ThreadState;

bool host_watch_on();

// A host function's data, given by the call `call_seq`: a block of the trace from there on.
void watch_callback_data(ThreadState& thread, uint64_t address, uint64_t call_seq);

// Waits for the address to go. The number tells this time from others; 0: there is no room.
uint64_t watch_host_address(uint64_t address);
bool is_still_watched(uint64_t address, uint64_t number);

}  // namespace capgate::preload
