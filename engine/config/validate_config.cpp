#include "engine/config/validate_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cfloat>
#include <utility>

namespace dsv4 {

using capgate::Error;

capgate::Result<void> validate_config(const ModelConfig& c) {
  const auto has = [&](LayerType type) {
    return std::find(c.layer_types.begin(), c.layer_types.end(), type) != c.layer_types.end();
  };
  if (c.rope_dim < 2 || c.rope_dim % 2 != 0 || c.rope_dim > c.head_dim)
    return Error{
        fmt::format("the rotated part of a head is {} of {} dimensions; it must be even and at least 2",
                    c.rope_dim, c.head_dim)};
  if (c.num_heads % c.o_groups != 0)
    return Error{fmt::format(R"("num_attention_heads" ({}) is not a multiple of "o_groups" ({}))",
                             c.num_heads, c.o_groups)};
  if (has(LayerType::kCsa)) {
    if (c.csa_ratio != 4)
      return Error{fmt::format("a CSA compression rate of {} is not supported; only 4 is", c.csa_ratio)};
    if (c.index_head_dim < c.rope_dim)
      return Error{fmt::format("\"index_head_dim\" ({}) is smaller than the rotated part of a head ({})",
                               c.index_head_dim, c.rope_dim)};
  }
  if (c.experts_per_token > c.num_experts)
    return Error{fmt::format(R"("num_experts_per_tok" ({}) is larger than "n_routed_experts" ({}))",
                             c.experts_per_token, c.num_experts)};
  // The engines compute in single precision, where a value beyond it would be zero or infinite.
  const auto positive = [](double x) { return x >= FLT_MIN && x <= FLT_MAX; };
  for (const auto& [key, value] :
       {std::pair{"routed_scaling_factor", c.routed_scaling}, std::pair{"swiglu_limit", c.swiglu_limit},
        std::pair{"hc_eps", c.hc_eps}, std::pair{"rms_norm_eps", c.rms_norm_eps},
        std::pair{"rope_theta", c.rope_theta}}) {
    if (!(value > 0)) return Error{fmt::format("\"{}\" is not a positive number", key)};
    if (!positive(value)) return Error{fmt::format("\"{}\" is {:g}, beyond single precision", key, value)};
  }
  if (!positive(c.compress_rope_theta) || c.compress_rope_theta <= 1)
    return Error{"\"compress_rope_theta\" is not a number larger than 1"};
  if (c.yarn && (!positive(c.yarn->factor) || !positive(c.yarn->beta_fast) || !positive(c.yarn->beta_slow)))
    return Error{"YaRN's factor, beta_fast and beta_slow must be positive numbers"};
  for (const int id : c.stop_tokens)
    if (id >= c.vocab_size)
      return Error{fmt::format("\"eos_token_id\" {} is outside the vocabulary of {}", id, c.vocab_size)};
  return {};
}

}  // namespace dsv4
