// What the run proves, and why it may prove nothing.
#pragma once

#include <vector>

#include "detector/analysis/timeline.h"
#include "detector/seal/sealed_trace.h"
#include "reports/model/report.h"

namespace capgate::analysis {

// Fills coverage, reasons, environment and subject. One timeline a process, in the order of the trace's.
void describe_run(const seal::SealedTrace& trace, const std::vector<Timeline>& timelines,
                  const std::vector<std::string>& patterns, reports::Report& report);

}  // namespace capgate::analysis
