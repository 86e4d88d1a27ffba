// The gate of this program: graphs are replayed only behind a report that says `pass` about this executable,
// this model's settings, this mode and everything that it captures for these buckets.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/config/model_config.h"
#include "engine/cuda/capture/modes.h"

namespace dsv4::cli {

// Nothing when the gate is open, else the one sentence that says why not. CUDA is asked for the machine only
// once all else in the report is right.
capgate::Result<void> ask_gate(const std::string& report, cuda::Mode mode, const ModelConfig& config,
                               const std::vector<int>& buckets);

// Tells an audit what is being judged.
void declare_subject(cuda::Mode mode, const ModelConfig& config);

// The lines by which a report names this executable.
void print_identity();

}  // namespace dsv4::cli
