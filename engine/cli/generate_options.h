// What `dsv4 generate` was asked for.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/cli/open_model.h"
#include "engine/model/sampling.h"

namespace dsv4::cli {

struct GenerateOptions {
  std::string model, device = "cpu", mode = "eager", gate, on_dirty = "refuse";
  std::string text;         // the prompt, unless it is given as ids
  std::vector<int> prompt;  // its ids
  int max_tokens = 0;
  bool ignore_eos = false;
  Sampling sampling;
};

// On the CUDA device, in the mode asked for; calls on_token for each new one. Checked: the prompt's ids, and
// that all tokens fit the model.
capgate::Result<void> generate_cuda(const GenerateOptions& options, const OpenModel& model,
                                    const std::function<void(int token)>& on_token);

}  // namespace dsv4::cli
