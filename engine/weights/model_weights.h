// A model's weights, bound to where they lie: every tensor of the configuration found, of the right shape and
// of a format that its role may have. Nothing is copied.
#pragma once

#include <vector>

#include "base/result.h"
#include "engine/checkpoint/tensor_view.h"
#include "engine/config/model_config.h"
#include "engine/weights/weight_matrix.h"

namespace dsv4 {

struct HyperConnectionWeights {
  WeightMatrix fn;     // [(2+N)*N, N*D]; at the head [N, N*D]
  WeightMatrix base;   // [(2+N)*N]; at the head [N]
  WeightMatrix scale;  // pre, post, comb; at the head one
};

struct CompressorWeights {
  WeightMatrix kv, gate;  // [width, D]; width is twice the entry's size in CSA
  WeightMatrix ape;       // [ratio, width], added to the gate by place in the window
  WeightMatrix norm;
};

struct IndexerWeights {
  WeightMatrix wq_b;          // [heads * dim, q_lora]
  WeightMatrix weights_proj;  // [heads, D]
  CompressorWeights compressor;
};

struct ExpertWeights {
  WeightMatrix w1, w2, w3;  // gate, down, up
};

struct LayerWeights {
  WeightMatrix attn_norm, ffn_norm;
  HyperConnectionWeights attn_hc, ffn_hc;
  WeightMatrix wq_a, q_norm, wq_b, wkv, kv_norm, attn_sink, wo_a, wo_b;
  CompressorWeights compressor;  // CSA and HCA
  IndexerWeights indexer;        // CSA
  WeightMatrix gate;
  WeightMatrix gate_bias;  // layers that are not hash-routed
  HashTable tid2eid;       // hash-routed layers
  std::vector<ExpertWeights> experts;
  ExpertWeights shared;
};

struct ModelWeights {
  WeightMatrix embed, norm, head;
  HyperConnectionWeights hc_head;
  std::vector<LayerWeights> layers;
};

// The source must outlive the result.
capgate::Result<ModelWeights> bind_weights(const ModelConfig& config, const TensorSource& source);

}  // namespace dsv4
