// What the values of a configuration must satisfy together.
#pragma once

#include "base/result.h"
#include "engine/config/model_config.h"

namespace dsv4 {

// The error names the keys, not the file.
capgate::Result<void> validate_config(const ModelConfig& config);

}  // namespace dsv4
