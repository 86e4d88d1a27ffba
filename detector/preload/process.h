// Life of the library in its process: attaching when the driver initialises, detaching, forks, the end.
#pragma once

#include <stdint.h>

namespace capgate::preload {

struct ThreadState;

// Stops for good and says so, on stderr and in the trace.
void give_up(ThreadState& thread, const char* what, const char* why);

// A callback of an API call arrived: CUPTI is not deaf.
void write_proof(ThreadState& thread);

// After each outermost call: what has to wait until the driver is up, and the end of an audit that was
// limited.
void after_call(ThreadState& thread, bool has_context);

// Once, before the first lock of the library can be held while the program forks.
void prepare_for_forks();

// For CAPGATE_UNTIL.
void note_capture_done(ThreadState& thread, bool success);
void note_replay(ThreadState& thread);

}  // namespace capgate::preload
