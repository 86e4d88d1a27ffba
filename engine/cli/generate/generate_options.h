// What `dsv4 generate` was asked for.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/cli/arguments/open_model.h"
#include "engine/model/request.h"
#include "engine/model/schedule.h"

namespace dsv4::cli {

struct GenerateOptions {
  std::string model, device = "cpu", mode = "eager", gate, on_dirty = "refuse";
  std::string text;     // the prompt, unless it is given as ids
  std::string prompts;  // a file of many
  Request request;      // its ids, and how to go on; of many prompts, where their lines do not say otherwise
  int rows = 1;         // decoded at a time
  int chunk = 1;        // most tokens of a prompt in one step
};

// What becomes of requests; the first number is the request's.
struct AnswerSink {
  std::function<void(int, int)> on_token;
  std::function<void(int, Arrival)> on_end;  // may be empty
};

// On the CUDA device, in the mode asked for. Checked: the prompts' ids, and that all tokens fit the model.
capgate::Result<void> generate_cuda(const GenerateOptions& options, const OpenModel& model,
                                    const std::vector<Request>& requests, const AnswerSink& sink);

}  // namespace dsv4::cli
