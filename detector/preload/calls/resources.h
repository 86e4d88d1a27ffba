// CUPTI's resource and state callbacks: contexts, streams, modules, graphs, nodes.
#pragma once

#include <cupti_callbacks.h>
#include <stdint.h>

namespace capgate::preload {

struct ThreadState;

// Turns the resource ids on, after subscribing.
void enable_resources();

void note_resource(ThreadState& thread, uint32_t cbid, const CUpti_ResourceData& data);
void note_cupti_state(ThreadState& thread, uint32_t cbid, const void* data);

// The device of a stream; `current` for the default streams, kNoDevice for one whose making was not seen.
int32_t stream_device(uint64_t stream, int32_t current);

}  // namespace capgate::preload
