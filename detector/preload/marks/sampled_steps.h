// The kernel launches of eager steps, with their parameters and stacks, of some steps: a graph's nodes are
// held against them. Of a marked step, and of what follows the launches of one graph, these are the first
// three and then each whose number is a power of two; so most steps cost nothing.
#pragma once

#include <stdint.h>

#include "detector/preload/writer/thread_state.h"

namespace capgate::preload {

// A marked range begins. `step`: the same for all passes of one step in one bucket. True: this one is
// sampled, and sampled_step_ends() is due at its end.
bool sampled_step_begins(ThreadState& thread, uint64_t step);
void sampled_step_ends(ThreadState& thread);

// The thread launched a graph. True: what it does up to its next launch of one is sampled.
bool replay_begins(ThreadState& thread, uint64_t exec);

// Whether the thread is in such a step, or in the eager step of a verification.
inline bool records_launches(const ThreadState& thread) {
  return thread.sampled_ranges != 0 || thread.sampled_replay || thread.sampled_eager;
}

// One launch more; false: the step, the process or the trace has no room for it, and that is counted.
bool has_room_for_launch(ThreadState& thread);

}  // namespace capgate::preload
