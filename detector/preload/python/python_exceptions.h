// The exception that the calling thread's Python is handling, and the traceback, read from the interpreter's
// objects by what the kernel copies of them: a layout that is not as expected costs the answer, never the
// program. Known layouts: those of python_frames.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace capgate::preload {

// After know_python_frames(). False: its exceptions are laid out in a way that is not known here.
bool know_python_exceptions(const char* version, void* (*symbol)(void* context, const char* name),
                            void* context);

// The exceptions that a thread of this state is handling (an except or finally block, a with block that it
// leaves), innermost first, at most `most`; the rest of `out` stays as it is.
void handled_python_exceptions(const void* thread_state, uint64_t* out, int most);

struct PythonException {
  char type[128];
  char text[1024];  // UTF-8, cut
  size_t text_bytes;
  char stack[16 << 10];  // where it was raised, as the dumper writes stacks, and who called that
  size_t stack_bytes;
  bool left_with;  // it is on its way out of a with block: an __exit__ that runs was given it
};

// False: it is not what it should be, and nothing of it is told.
bool read_python_exception(void* thread_state, uint64_t exception, PythonException* out);

// The fast local `index` of a frame (python_layout), its first argument 0; 0 where it cannot be read.
uint64_t python_local(const void* frame, size_t index);

}  // namespace capgate::preload
