// Native call stacks of the calling thread, each distinct one in the trace once.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace capgate::preload {

struct ThreadState;

inline constexpr uint32_t kMaxStackFrames = 96;

// Loads the unwinder and walks one stack, so that the first real one does not cost 20 ms inside a capture.
// False: there is no unwinder in this process.
bool warm_up_stacks();

// The id of the calling thread's native stack, 0 when there is none. truncated: it had more frames than are
// kept. until_python: it ends at the first frame of the Python interpreter, which is kept; unwinding the
// interpreter's own frames would cost most of the time and say nothing.
uint32_t native_stack(ThreadState& thread, bool* truncated, bool until_python = false);

// The ids of the calling thread's native and Python stack, as far as they are recorded.
struct BothStacks {
  uint32_t native = 0, python = 0;
  bool truncated = false;
};
BothStacks both_stacks(ThreadState& thread);

// The calling thread's return addresses from the innermost frame outside this library and NVIDIA's on, at
// most `most`; where Python runs, down to the interpreter. How many there are.
uint32_t caller_addresses(uint64_t* out, uint32_t most);

// The frame that holds an address of the calling thread's stack: where its return address lies, and what that
// is. False: no frame is known to hold it.
bool frame_of(const ThreadState& thread, uint64_t address, uint64_t* at, uint64_t* return_address);

// "prog+0x12c4": the innermost frame outside this library and NVIDIA's, or empty.
void describe_caller(char* out, size_t size);

}  // namespace capgate::preload
