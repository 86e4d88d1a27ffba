// The captures of a process as the report lists them, node by node.
#pragma once

#include <vector>

#include "detector/analysis/timeline.h"
#include "reports/model/report.h"

namespace capgate::analysis {

// `room`: nodes that may still be listed; what is left of it comes back. A capture with more keeps its counts
// and loses its list.
std::vector<reports::Capture> list_captures(const Timeline& timeline, size_t& room);

}  // namespace capgate::analysis
