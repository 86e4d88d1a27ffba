// Which graphs a run's judgement rests on besides its captures, and what could not be followed of graphs.
#pragma once

#include <vector>

#include "detector/analysis/graph_nodes.h"
#include "detector/analysis/timeline.h"
#include "reports/model/report.h"

namespace capgate::analysis {

// Some graph that no capture made was launched, and the trace holds what it was.
bool judged_built_graphs(const std::vector<Timeline>& timelines);

// Whether the executable holds work of the GPU or the host: empty nodes and event nodes only order others.
bool holds_work(const GraphNodes& nodes, const ExecVersion& version);

void not_compared(const std::vector<Timeline>& timelines, reports::Report& report);

}  // namespace capgate::analysis
