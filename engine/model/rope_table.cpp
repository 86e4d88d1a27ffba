#include "engine/model/rope_table.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace dsv4 {
namespace {

// The pair (as a real number) that makes `turns` turns over the original length.
double pair_with_turns(double turns, const YarnScaling& yarn, double base, int dims) {
  return dims * std::log(yarn.original_max_positions / (turns * 2 * std::numbers::pi)) / (2 * std::log(base));
}

}  // namespace

std::vector<double> rope_frequencies(const ModelConfig& config, LayerType type) {
  const int dims = config.rope_dim;
  const bool compress = type != LayerType::kSliding;
  const double base = compress ? config.compress_rope_theta : config.rope_theta;
  std::vector<double> frequencies;
  for (int i = 0; i < dims / 2; ++i) frequencies.push_back(std::pow(base, -2.0 * i / dims));
  if (!compress || !config.yarn) return frequencies;

  // YaRN: fast pairs as they are, slow pairs slowed by the factor, a ramp between.
  const YarnScaling& yarn = *config.yarn;
  const double low = std::max(std::floor(pair_with_turns(yarn.beta_fast, yarn, base, dims)), 0.0);
  double high = std::min(std::ceil(pair_with_turns(yarn.beta_slow, yarn, base, dims)), dims - 1.0);
  if (low == high) high += 0.001;
  for (int i = 0; i < dims / 2; ++i) {
    const double ramp = std::clamp((i - low) / (high - low), 0.0, 1.0);
    frequencies[i] = frequencies[i] / yarn.factor * ramp + frequencies[i] * (1 - ramp);
  }
  return frequencies;
}

}  // namespace dsv4
