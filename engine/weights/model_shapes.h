// The shapes that random-checkpoint knows.
#pragma once

#include <optional>
#include <string_view>

#include "engine/config/model_config.h"

namespace dsv4 {

// "tiny" (every kind of layer, small enough for a CPU), "flash" and "pro" (DeepSeek-V4's own). Nothing for
// another name.
std::optional<ModelConfig> model_shape(std::string_view name);

// The first `layers` layers of it (1 to its number).
ModelConfig truncated(ModelConfig config, int layers);

}  // namespace dsv4
