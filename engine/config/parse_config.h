// config.json → ModelConfig. Both key styles are read (transformers' layer_types, compress_rates,
// mlp_layer_types, rope_parameters; the published compress_ratios, num_hash_layers, qk_rope_head_dim,
// rope_scaling); where a file has both, the transformers key wins. What no checkpoint uses is refused by
// name.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/config/model_config.h"

namespace dsv4 {

// `origin` names the text in errors.
capgate::Result<ModelConfig> parse_config(std::string_view text, std::string_view origin);

// Reads DIR/config.json.
capgate::Result<ModelConfig> load_config(const std::string& dir);

}  // namespace dsv4
