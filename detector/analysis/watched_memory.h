// What the launches of graphs were watched for, and which allocators' blocks nobody saw.
#pragma once

#include <vector>

#include "detector/analysis/timeline.h"
#include "detector/seal/sealed_trace.h"
#include "reports/model/report.h"

namespace capgate::analysis {

// Of one process: how far its memory was followed through its launches.
struct Watch {
  uint64_t graphs = 0, launches = 0;
  bool thinned = false;  // some allocations or frees were only counted: nothing is judged
};

// Fills coverage.replay, and names in not_checked what was not seen. `watches`: one for each of the
// timelines, which are those of the trace's processes.
void describe_watch(const seal::SealedTrace& trace, const std::vector<Timeline>& timelines,
                    const std::vector<Watch>& watches, reports::Report& report);

}  // namespace capgate::analysis
