// Calls that build graphs, change them, and make or change executables.
#pragma once

#include <cupti_callbacks.h>
#include <stdint.h>

#include "detector/trace/format.h"

namespace capgate::preload {

struct CallShape;
struct Frame;
struct ThreadState;

// At the end of an outermost call: writes the graph that the call used as far as the trace lacks it, and
// notes what the call changed.
void follow_graph_call(ThreadState& thread, const Frame& frame, const CUpti_CallbackData& call,
                       int32_t result);

// Which node CUDA blames for a refused instantiation or update; nothing for other calls.
void write_graph_refusal(trace::CallRecord& record, const CallShape& shape, const void* parameters);

// At the end of a call of the driver, nested or not: what only the driver's own parameters tell, as the new
// parameters of an executable's node and the node that CUDA blames for a refusal.
void note_graph_details(ThreadState& thread, const Frame& frame, const CUpti_CallbackData& call,
                        int32_t result);

}  // namespace capgate::preload
