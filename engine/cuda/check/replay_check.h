// Replays of the captured step against eager steps of another engine: the same tokens, and the same bits of
// the logits of every step, whatever the inputs, and from buffers that hold poison.
#pragma once

#include <vector>

#include "engine/cuda/capture/captured_step.h"

namespace dsv4::cuda {

struct ReplayRound {
  int bucket = 0, requests = 0, tokens = 0;
  Ordering ordering = Ordering::kPerStep;
  bool tokens_equal = false;
  int steps = 0;
  int first_apart = -1;  // the first step with other logits
  bool ok() const { return tokens_equal && first_apart < 0; }
};

struct ReplayReport {
  std::vector<ReplayRound> rounds;
  bool memory_flat = false;  // free device memory after the first round and after each later one
  bool ok() const;
};

struct ReplayPlan {
  Mode mode = Mode::kFull;  // not eager
  std::vector<int> buckets = {1, 2, 4};
  int rounds = 3;
  int tokens = 48;  // new ones of a request at most
};

// Each bucket gets new prompts, samplings and lengths in every round: in one round more requests than there
// are rows, which are taken up as others end, in the next too few, so that lanes feed prompts or nothing. In
// piecewise mode each round is done in both orderings. Positions up to the prompts' and `tokens` must fit the
// model.
capgate::Result<ReplayReport> check_replay(const ModelConfig& config, const ModelWeights& weights,
                                           const ReplayPlan& plan);

}  // namespace dsv4::cuda
