// Whether an audit and a lint speak of the same sources.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "reports/model/merge.h"

namespace capgate::reports {

// The error is one sentence: what the lints read and what the frames of the runs name have no file in common,
// so the one is no evidence about the other. Nothing is refused where either is unknown: the lint's report is
// too old to list its files, or the run's frames name no C or C++ source (a Python program, a stripped one).
Result<void> check_sources(const std::vector<MergeInput>& inputs);

// Unites the lists of sources, and makes that of the sources that no lint read anew.
void merge_sources(Coverage& into, const Coverage& from);

// Whether two paths, as reports write them, may be one file: equal, or, where one tree was not found and its
// paths are absolute or begin further in, one the end of the other.
bool same_source(const std::string& a, const std::string& b);

// Lint reads C, C++ and CUDA.
bool is_python_source(const std::string& path);

}  // namespace capgate::reports
