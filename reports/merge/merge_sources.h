// Whether an audit and a lint speak of the same sources.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "reports/merge/merge.h"

namespace capgate::reports {

// The error is one sentence: what the lints read and what the frames of the runs name have no file in common,
// so the one is no evidence about the other. Nothing is refused where either is unknown: the lint's report is
// too old to list its files, or the run's frames name no C or C++ source (a Python program, a stripped one).
Result<void> check_sources(const std::vector<MergeInput>& inputs);

// Unites the lists of sources, and makes that of the sources that no lint read anew.
void merge_sources(Coverage& into, const Coverage& from);

}  // namespace capgate::reports
