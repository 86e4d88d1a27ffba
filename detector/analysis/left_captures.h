// Captures that an exception left: CUDA ended them, or never did, and refused nothing, but what the program
// meant to capture is not in them.
#pragma once

#include <string>

#include "detector/analysis/timeline.h"
#include "reports/model/report.h"

namespace capgate::analysis {

// Sets `left` of each such capture and makes it a failed one. docs/design/exceptions-in-a-capture.md says
// what is proof of it.
void find_left_captures(Timeline& timeline, const reports::Run& run);

// "RuntimeError", "std::out_of_range"; "an exception" where the type is not known.
std::string exception_type(const Timeline& timeline, const LeftBy& left);

// Its message, which may have several lines; empty where it is not known.
std::string exception_text(const Timeline& timeline, const LeftBy& left);

}  // namespace capgate::analysis
