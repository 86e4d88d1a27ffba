// What the library does, one line per event, for whoever looks for a fault in it: CAPGATE_DEBUG=1. The lines
// go to stderr or are appended to the file that CAPGATE_DEBUG_FILE names; several processes may share the
// file. Without the setting this costs one test per event, and nothing is written.
#pragma once

#include <atomic>

#include "detector/preload/system/sys.h"

namespace capgate::preload {

inline std::atomic<bool> g_debugging{false};

inline bool debugging() {
  return g_debugging.load(std::memory_order_relaxed);
}

// Before the first event.
void read_debug();

// "capgate[PID:TID]: TEXT". Only while debugging(): the text is made for nothing otherwise.
void debug(const Text& text);

}  // namespace capgate::preload
