// A prompt and how to go on from it.
#pragma once

#include <vector>

#include "engine/model/sampling.h"

namespace dsv4 {

struct Request {
  std::vector<int> prompt;  // at least one token
  int max_tokens = 1;       // new ones
  bool ignore_eos = false;
  Sampling sampling;
};

}  // namespace dsv4
