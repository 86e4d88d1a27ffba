// What is said when a capture dies: which call, what it returned, and the line it stands at.
#pragma once

#include <string>
#include <string_view>

#include "detector/seal/symbols/symboliser.h"
#include "reports/settings/settings.h"

namespace capgate::cli {

// The sentence for one notice (detector/trace/death_notice.h), without its end of line: "capture died:
// cudaStreamSynchronize returned cudaErrorStreamCaptureUnsupported (900) at model/moe.py:212 route()". Where
// there is no debug information the place is "module!symbol+0x1c". Empty for what is no notice.
std::string death_line(std::string_view notice, seal::Symboliser& symboliser,
                       const reports::Settings& settings);

}  // namespace capgate::cli
