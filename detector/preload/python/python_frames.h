// The Python frames of the calling thread, read where they lie: thirty times faster than the interpreter's
// crash dumper, which 3.9, 3.10 and 3.13 do not export at all. Known layouts: 3.9 to 3.13. Only memory of
// frames that stand still is read: the thread is inside a C call of its own.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace capgate::preload {

// Prepares for the interpreter that `symbol` finds names of. version: "3.13.0 (main, …". False: its frames
// are laid out in a way that is not known here.
bool know_python_frames(const char* version, void* (*symbol)(void* context, const char* name), void* context);

// The frames from a thread state on, innermost first, as the dumper writes them:
// `  File "x.py", line 3 in f`. Bytes written.
size_t write_python_frames(void* thread_state, char* out, size_t size);

// Where each frame stands, as numbers that are the same again when the same lines run again: much cheaper
// than their text. How many there are; 0 where the layout has none (before 3.11), or more than `count` would
// be needed.
size_t python_places(void* thread_state, uint64_t* out, size_t count);

// The innermost frames' places as one number, never 0: for what happens thousands of times per step. 0 where
// no frame has code or the layout has no places.
uint64_t python_site(void* thread_state);

}  // namespace capgate::preload
