// What the processes of a distributed run left in one folder, as reports.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "detector/seal/sealed_trace.h"
#include "reports/merge/merge.h"

namespace capgate::cli {

// A report for each folder in `folder` with raw traces (and for `folder` itself), for each sealed trace and
// for each report that lies there. `expected` is what the raw traces are judged with. Fails where nothing is
// found, or a file cannot be read.
Result<std::vector<reports::MergeInput>> gather(const std::string& folder, const seal::Expectations& expected,
                                                const std::string& tool_version);

}  // namespace capgate::cli
