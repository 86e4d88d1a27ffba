// Answers to a file of prompts: a JSON line on standard output for each, as it ends.
//
//   {"line": 3, "id": "a", "ids": [7, 9], "text": "…", "end": "stop"}     "id" and "text" where the prompt
//   had them; "end" is "stop" after a stop token, which is not among the ids, or "length"
#pragma once

#include <vector>

#include "engine/cli/generate/prompts.h"
#include "engine/model/schedule.h"

namespace dsv4::cli {

class Answers {
 public:
  explicit Answers(const Prompts& prompts) : prompts_(prompts), tokens_(prompts.of.size()) {}
  void add(int request, int token) { tokens_[static_cast<std::size_t>(request)].push_back(token); }
  void end(int request, Arrival arrival);

 private:
  const Prompts& prompts_;
  std::vector<std::vector<int>> tokens_;
};

}  // namespace dsv4::cli
