// Interned text: every string stands in the trace once.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace capgate::preload {

struct ThreadState;

// Its id, never 0 unless memory ran out. Works before the trace exists: what was interned by then is written
// when it is made.
uint32_t intern(ThreadState& thread, const char* text, size_t bytes);
uint32_t intern(ThreadState& thread, const char* text);

// Writes everything interned so far to a new trace.
void write_strings(ThreadState& thread);

// The text of an id, for messages; "" for 0.
const char* interned_text(uint32_t id);

}  // namespace capgate::preload
