// The Python stack of the calling thread, read from its frames (python_frames) or by the interpreter's own
// crash dumper: neither takes a lock or makes an object.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace capgate::preload {

struct ThreadState;

// Looks for an interpreter in the process and writes what it found, once it is there. Cheap when called
// again.
void find_python(ThreadState& thread);

// The id of the calling thread's Python stack, 0 when it runs no Python or its lines cannot be read.
uint32_t python_stack(ThreadState& thread);

// The same for what happens thousands of times per step: the innermost frames decide which stack it was.
uint32_t frequent_python_stack(ThreadState& thread);

// The id of a stack that was written some other way, as the dumper writes stacks; 0 for none.
uint32_t python_stack_of_text(ThreadState& thread, const char* text, size_t bytes);

// An audit hook was added before the interpreter started: what frameworks log of captures can be seen.
void python_is_audited();

// The calling thread's state in an interpreter whose frames are read where they lie; null when there is none.
void* python_state();

// The interpreter's code: below it, a native stack holds only what the Python stack tells better. False:
// unknown.
bool interpreter_code(uint64_t* low, uint64_t* high);

// The calling thread's whole Python stack as a trace holds it; bytes written.
size_t python_text(char* out, size_t size);

// The innermost Python line of the calling thread as `File "x.py", line 3 in f`, or empty.
void describe_python(char* out, size_t size);

}  // namespace capgate::preload
