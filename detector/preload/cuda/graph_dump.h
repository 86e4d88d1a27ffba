// What a graph holds: when its capture ends, and when an executable is made of it or updated from it.
#pragma once

#include <stdint.h>

#include "detector/preload/cuda/captures.h"

namespace capgate::preload {

struct ThreadState;

// Writes the CaptureRecord and, when it has a graph, its nodes with their parameters and its edges. Called at
// the exit of the end of the capture, on the thread that ended it.
void write_capture(ThreadState& thread, const OpenCapture& capture, uint64_t end_seq, uint64_t graph,
                   int32_t result);

// Writes a GraphContentsRecord with the graph's nodes and edges, and those of the graphs that it holds, as
// far as they are not in the trace already. Called at the exit of the call that uses the graph.
void write_graph(ThreadState& thread, uint64_t graph, uint64_t call_seq);

}  // namespace capgate::preload
