// What the report is about: the machine and the program.
#pragma once

#include "detector/seal/sealed_trace.h"
#include "reports/model/report.h"

namespace capgate::analysis {

void describe_environment(const seal::SealedTrace& trace, reports::Report& report);

// After describe_environment.
void describe_subject(const seal::SealedTrace& trace, reports::Report& report);

}  // namespace capgate::analysis
