// From a sealed trace to a report: the judging half of the audit. Needs no GPU, no CUDA and no file but the
// trace.
#pragma once

#include "detector/seal/sealed_trace.h"
#include "reports/model/report.h"

namespace capgate::analysis {

// The finished report of a run: the same bytes wherever it is made.
reports::Report analyze(const seal::SealedTrace& trace);

}  // namespace capgate::analysis
