// The gate of this program: graphs are replayed only behind a report that says `pass` about this executable,
// this model's settings and these buckets.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/config/model_config.h"

namespace dsv4::cli {

// Nothing when the gate is open, else the one sentence that says why not. CUDA is asked for the machine only
// once all else in the report is right.
capgate::Result<void> ask_gate(const std::string& report, const std::string& mode, const ModelConfig& config,
                               const std::vector<int>& buckets);

// Tells an audit what is being judged.
void declare_subject(const std::string& mode, const ModelConfig& config);

// The lines by which a report names this executable.
void print_identity();

}  // namespace dsv4::cli
