// Which processes the detector was attached to, and why not.
#pragma once

#include "detector/seal/sealed_trace.h"
#include "reports/model/report.h"

namespace capgate::analysis {

void describe_attachment(const seal::SealedTrace& trace, reports::Report& report);

// Processes of the run that have no trace.
void describe_unseen_processes(const seal::SealedTrace& trace, reports::Report& report);

}  // namespace capgate::analysis
