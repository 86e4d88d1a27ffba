// coverage.replay.verified: which executables a run verified, and which of those that it launched it did not.
#pragma once

#include <vector>

#include "detector/analysis/timeline.h"
#include "detector/analysis/verifications.h"
#include "reports/model/report.h"

namespace capgate::analysis {

// Of one process of the run.
struct VerifiedProcess {
  const Timeline* timeline = nullptr;
  std::vector<Verification> verifications;  // the evidence points into them
  std::vector<ReplayEvidence> evidence;
};

// After describe_watch, which makes coverage.replay. Says nothing of a run without a verification.
void describe_verifications(const std::vector<VerifiedProcess>& processes, reports::Report& report);

}  // namespace capgate::analysis
