// The one way to write a resolved configuration down: the same model gives the same text whatever style its
// config.json had. The text is itself a config.json in transformers' key style.
#pragma once

#include <string>

#include "engine/config/model_config.h"

namespace dsv4 {

std::string canonical_config(const ModelConfig& config);

// SHA-256 of the canonical text in lower-case hex: the config digest that the gate compares.
std::string config_digest(const ModelConfig& config);

// "sliding_attention", "compressed_sparse_attention" or "heavily_compressed_attention".
const char* layer_type_name(LayerType type);

}  // namespace dsv4
