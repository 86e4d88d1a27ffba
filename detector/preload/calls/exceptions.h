// Writes the exceptions that matter to a capture: those thrown while one is open, and the one that is on its
// way when a capture is ended, or that ends the program.
#pragma once

#include <stdint.h>

namespace capgate::preload {

struct ThreadState;
struct OpenCapture;
struct ExceptionsBefore;

// As a capture remembers them from its beginning.
ExceptionsBefore exceptions_now();

// C++ throws, on any thread. `thrower`: a function of its runtime.
void note_throw(uint64_t object, uint64_t type, const void* thrower);

// A capture was just ended by its own thread.
void note_exceptions_at_end(ThreadState& thread, const OpenCapture& capture);

// The interpreter prints an exception that nobody caught.
void note_uncaught_python(ThreadState& thread, uint64_t exception);

}  // namespace capgate::preload
