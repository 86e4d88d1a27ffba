// How the recording of this process ends.
#pragma once

#include <stdint.h>

namespace capgate::preload {

struct ThreadState;

// The last record, written before the file is closed. how: 1 the process ends, 2 detached.
void write_end(ThreadState& thread, uint32_t how);

// The process ends without exit handlers, and on purpose. The file stays open: only the record is written.
void note_leaving(ThreadState& thread);

// Stops recording for good: one line on stderr, the reason in the trace, and the program runs on.
void give_up(ThreadState& thread, const char* what, const char* why);

// Closes the trace when the process exits. Registers one handler per process, however often it is called.
void close_trace_at_exit();

}  // namespace capgate::preload
