// Whether the host memory that a captured copy names is shown to be alive at every launch of its graph.
#pragma once

#include <cstddef>

#include "detector/analysis/judge.h"

namespace capgate::analysis {

// A static, or on the stack below a function that is still running, called from the same place, when the
// graph is launched. Heap memory is never shown alive: nobody watches free().
bool is_alive_at_launches(Judge& judge, const Capture& capture, size_t copy, trace::HostPlace place,
                          uint64_t address);

}  // namespace capgate::analysis
