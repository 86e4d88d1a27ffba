// The next token from the logits. A device can do the same: the randomness is addressed by (seed, position,
// token), so each token's part of the choice is independent of every other's.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

#include "engine/model/choose.h"
#include "engine/weights/generator.h"

namespace dsv4 {

struct Sampling {
  double temperature = 0;  // 0: the largest logit
  int top_k = 0;           // only the k largest take part; 0: all
  std::uint64_t seed = 0;
};

// Adding independent Gumbel noise to logit / temperature and taking the largest draws from their softmax.
inline double gumbel_noise(std::uint64_t key, std::uint64_t index) {
  const double uniform = (static_cast<double>(element_bits(key, index) >> 11) + 0.5) * 0x1p-53;
  return -std::log(-std::log(uniform));
}

// `position`: of the token whose logits these are. Of equals the lowest id wins.
template <class T>
int next_token(std::span<const T> logits, const Sampling& sampling, int position) {
  const auto largest = [](std::span<const T> values) {
    return static_cast<int>(std::max_element(values.begin(), values.end()) - values.begin());
  };
  if (sampling.temperature == 0) return largest(logits);
  const int k = sampling.top_k > 0 ? sampling.top_k : static_cast<int>(logits.size());
  const std::uint64_t key = tensor_key(sampling.seed, "sampling");
  int best = -1;
  double best_value = 0;
  for (const int token : top_k(logits, k)) {
    const std::uint64_t index =
        static_cast<std::uint64_t>(position) * logits.size() + static_cast<std::uint64_t>(token);
    const double value = static_cast<double>(logits[token]) / sampling.temperature + gumbel_noise(key, index);
    if (best >= 0 && value <= best_value) continue;
    best = token;
    best_value = value;
  }
  return best;
}

}  // namespace dsv4
