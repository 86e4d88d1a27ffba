// Calls that a capturing stream refused while its capture lived on: their work is in no graph.
#pragma once

#include <cstddef>

#include "detector/analysis/timeline.h"

namespace capgate::analysis {

bool was_dropped(const Timeline& timeline, size_t call);

}  // namespace capgate::analysis
