// A channel or a cache that is set up on first use inside a capture: the thread puts itself into relaxed
// mode, works on a stream of its own, waits for that stream and goes back. The work is meant to run once, and
// it has run.
#pragma once

#include <cstddef>

#include "detector/analysis/judge.h"

namespace capgate::analysis {

// Work outside the capture that its thread belongs to. Not what the same line does later outside captures
// too: that is the step's work.
bool is_private_setup(Judge& judge, size_t work);
// The wait for such work.
bool ends_private_setup(Judge& judge, size_t wait);

}  // namespace capgate::analysis
