// Verifications of several runs.
#pragma once

#include <string>
#include <vector>

#include "reports/merge/merge.h"
#include "reports/model/report.h"

namespace capgate::reports {

void add_verified(ReplayCoverage& into, const ReplayCoverage& from);

// Each run numbers its processes and executables as it likes.
void name_executables(ReplayCoverage& replay, const std::string& prefix);

// Where some run has a verification: the graphs that another one launched without any are not verified,
// either.
void list_unverified_runs(std::vector<MergeInput>& inputs);

}  // namespace capgate::reports
