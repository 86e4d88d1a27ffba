// Whether CUPTI delivers callbacks at all. One that attached and stays deaf (it is older than the GPU, say)
// must not look like a program that does nothing with CUDA.
#pragma once

namespace capgate::preload {

struct ThreadState;

// Watches calls that a program makes before any that are recorded.
void watch_first_calls();

// A callback arrived: the trace gets this fact once.
void note_callback(ThreadState& thread);

}  // namespace capgate::preload
