// Processes that used CUDA and were killed: what they did before is known, and a pass over it would say too
// much.
#pragma once

#include <sys/types.h>

#include <vector>

#include "detector/seal/sealed_trace.h"

namespace capgate::cli {

// Adds a reason for each. `still_running`: they have not ended.
void explain_killed(seal::SealedTrace& trace, pid_t own_pid, const std::vector<pid_t>& still_running);

}  // namespace capgate::cli
