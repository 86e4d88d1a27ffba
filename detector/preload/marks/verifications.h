// What verify_replay says of itself. While a thread verifies, all its calls are recorded, launches too: they
// show whether what it says is true.
#pragma once

#include "detector/trace/format.h"

namespace capgate::preload {

// name, facts: see trace::VerifyRecord.
void note_verification(trace::VerifyOp op, const char* name, const char* facts);

}  // namespace capgate::preload
