// Every tensor that a model of a given configuration has, in upstream names: the one list that the loader
// binds, the generator fills and the writer writes (scripts/golden/dsv4_tensors.py is its twin).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/config/model_config.h"

namespace dsv4 {

enum class TensorRole : std::uint8_t {
  kEmbedding,
  kNorm,
  kProjection,  // FP8 with block scales in published checkpoints
  kLinear,      // BF16 there
  kExpert,      // FP4 with a scale for every 32 inputs there
  kHcMixer,
  kHcBase,
  kHcScale,
  kSink,
  kPositionBias,
  kRouterBias,
  kHashTable  // integers: the experts of each token id
};

struct TensorSpec {
  std::string name;
  std::int64_t rows;  // 1 for vectors
  std::int64_t cols;
  TensorRole role;
  bool vector;  // has one dimension in a file
};

std::vector<TensorSpec> model_tensors(const ModelConfig& config);

// "layers.0.attn.wq_a.weight" → "layers.0.attn.wq_a.scale"
std::string scale_name(const std::string& weight_name);

}  // namespace dsv4
