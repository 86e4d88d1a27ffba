// The process as the trace records it.
#pragma once

namespace capgate::preload {

struct ThreadState;

// At the start: names, rank, settings, and the variables that change what CUDA does.
void write_process_facts(ThreadState& thread);

}  // namespace capgate::preload
