// A file of prompts: JSON lines, one prompt each.
//
//   {"prompt": "text"} or {"prompt_ids": [1, 2]}, and if wanted "id", a string or a whole number that comes
//   back with the answer, and "max_tokens", "temperature", "top_k", "seed", "ignore_eos" in place of the
//   command line's
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/cli/arguments/open_model.h"
#include "engine/model/request.h"
#include "engine/tokenizer/tokenizer.h"

namespace dsv4::cli {

struct Prompt {
  int line = 0;
  std::string id;     // as JSON; empty: it has none
  bool text = false;  // and so its answer
};

struct Prompts {
  std::vector<Prompt> of;
  std::vector<Request> requests;       // of the same number
  std::optional<Tokenizer> tokenizer;  // where a prompt is text
};

// Every line is checked against the model before the first is answered. `defaults` has what the command line
// says.
capgate::Result<Prompts> read_prompts(const std::string& path, const Request& defaults,
                                      const std::string& model_dir, const ModelConfig& config);

}  // namespace dsv4::cli
