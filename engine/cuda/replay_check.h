// Replays of the captured step against eager steps of another engine: the same tokens and the same bits of
// the last logits, whatever the inputs, and from buffers that hold poison.
#pragma once

#include <vector>

#include "engine/cuda/engine.h"

namespace dsv4::cuda {

struct ReplayRound {
  int bucket = 0, rows = 0, tokens = 0;
  bool tokens_equal = false, logits_equal = false;
  bool ok() const { return tokens_equal && logits_equal; }
};

struct ReplayReport {
  std::vector<ReplayRound> rounds;
  bool memory_flat = false;  // free device memory after the first round and after the last
  bool ok() const;
};

// Each bucket gets new prompts, samplings and rows at different positions in every round; every second round
// leaves the last row of a bucket padded. Positions up to the prompts' and `tokens` must fit the model.
capgate::Result<ReplayReport> check_replay(const ModelConfig& config, const ModelWeights& weights,
                                           const std::vector<int>& buckets, int rounds, int tokens);

}  // namespace dsv4::cuda
