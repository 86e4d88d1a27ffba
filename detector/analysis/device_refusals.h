// Launches and event records of a capture that CUDA refuses because their function or event is of another
// device than their stream.
#pragma once

#include <cstddef>
#include <map>

#include "detector/trace/process_trace.h"

namespace capgate::analysis {

struct DeviceRefusal {
  int stream_device = trace::kNoDevice;
  int object_device = trace::kNoDevice;  // of the function or event; kNoDevice: not the stream's
};

// By index of the call. CUDA answers 400, and the capture goes on without the call. What a function's or
// event's device is follows from the streams that CUDA took it for before. Where there was none, a handle
// that CUDA does not take for a live capture's stream is of another device if the process has a context on
// one by then, and only one on the stream's; after a module was unloaded, that says nothing of a function.
std::map<size_t, DeviceRefusal> refused_for_their_device(const trace::ProcessTrace& trace);

}  // namespace capgate::analysis
