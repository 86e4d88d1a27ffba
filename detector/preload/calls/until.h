// CAPGATE_UNTIL: when the library has seen enough, detaches, and leaves the program to itself.
#pragma once

#include <stdint.h>

namespace capgate::preload {

struct ThreadState;

// Reads the setting. Once, before the first callback.
void read_until();

// A capture ended, well or not.
void note_capture_done(bool success);

// A graph was launched.
void note_replay();

// Detaches once enough was seen, on the thread of a call that is over, and between captures only.
void detach_when_done(ThreadState& thread);

}  // namespace capgate::preload
