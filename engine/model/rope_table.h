// The two tables of rotation frequencies. The layer's type picks the table for everything that the layer
// rotates: sliding layers the plain one, CSA and HCA layers the compress table, with YaRN where the model has
// it.
#pragma once

#include <vector>

#include "engine/config/model_config.h"

namespace dsv4 {

// Radians a position, one for each of the rope_dim / 2 pairs.
std::vector<double> rope_frequencies(const ModelConfig& config, LayerType type);

}  // namespace dsv4
