// The moment a capture dies: one line says so, at once.
#pragma once

#include <stdint.h>

namespace capgate::preload {

struct OpenCapture;
struct ThreadState;

// `name`: of the call that returned `result`, on this thread. The launcher says it with the source line,
// where there is one (CAPGATE_DEATHS); else this library does, with what it knows.
void tell_death(const ThreadState& thread, const OpenCapture& capture, const char* name, int32_t result);

}  // namespace capgate::preload
