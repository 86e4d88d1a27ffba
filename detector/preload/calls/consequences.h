// What a call's end changes for the library itself: captures that begin, end and die, modes, replays.
#pragma once

#include <cupti_callbacks.h>
#include <stdint.h>

namespace capgate::preload {

struct Frame;
struct ThreadState;

// For the outermost call of the thread; `product` as read_product() gave it.
void follow(ThreadState& thread, Frame& frame, const CUpti_CallbackData& call, int32_t result,
            uint64_t product);

}  // namespace capgate::preload
