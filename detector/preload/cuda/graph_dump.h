// What a finished capture put into its graph.
#pragma once

#include <stdint.h>

#include "detector/preload/cuda/captures.h"

namespace capgate::preload {

struct ThreadState;

// Writes the CaptureRecord and, when it has a graph, its nodes with their parameters and its edges. Called at
// the exit of the end of the capture, on the thread that ended it.
void write_capture(ThreadState& thread, const OpenCapture& capture, uint64_t end_seq, uint64_t graph,
                   int32_t result);

}  // namespace capgate::preload
