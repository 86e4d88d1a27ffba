// Which calls are judged, and which of them the trace has room for.
#pragma once

#include <stdint.h>

#include "detector/trace/format.h"

namespace capgate::preload {

struct ThreadState;

// Whether the call lies in something that is judged: an open capture, a marked region, a step between
// replays.
bool is_judged(const ThreadState& thread, trace::Family family);

// Whether it may still be written, or only counted.
bool has_room(ThreadState& thread, trace::Family family, bool judged);

// A busy wait would fill the trace with one and the same call.
bool is_repeated_poll(ThreadState& thread, trace::Family family, uint32_t domain, uint32_t cbid);

bool wants_stack(const ThreadState& thread, const trace::CallRecord& record, trace::Family family,
                 bool judged);

}  // namespace capgate::preload
