// The resolved settings of a DeepSeek-V4 model: what config.json says, whichever way it says it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dsv4 {

enum class LayerType : std::uint8_t {
  kSliding,  // window only
  kCsa,      // window and the indexer's choice of entries, each of 4 tokens, overlapping
  kHca       // window and every entry of `hca_ratio` tokens
};

struct YarnScaling {
  double factor = 16;
  double beta_fast = 32;
  double beta_slow = 1;
  int original_max_positions = 65536;

  bool operator==(const YarnScaling&) const = default;
};

struct ModelConfig {
  int vocab_size = 0;
  int hidden_size = 0;
  int num_heads = 0;
  int head_dim = 0;
  int rope_dim = 0;  // trailing dimensions of a head (and of an indexer head) that are rotated; even
  int q_lora_rank = 0;
  int o_groups = 0;
  int o_lora_rank = 0;
  int sliding_window = 0;

  std::vector<LayerType> layer_types;
  int csa_ratio = 4;
  int hca_ratio = 128;
  int index_heads = 0;
  int index_head_dim = 0;
  int index_topk = 0;

  std::vector<bool> hash_layers;  // one a layer: experts are looked up by token id
  int num_experts = 0;
  int experts_per_token = 0;
  int expert_size = 0;  // inner size of a routed expert and of the shared one
  double routed_scaling = 1;
  double swiglu_limit = 0;

  int hc_mult = 0;  // residual streams
  int hc_sinkhorn_iters = 0;
  double hc_eps = 0;
  double rms_norm_eps = 0;

  double rope_theta = 0;            // sliding layers
  double compress_rope_theta = 0;   // CSA and HCA layers
  std::optional<YarnScaling> yarn;  // of the compress table
  int max_positions = 0;

  int bos_token = 0;
  std::vector<int> stop_tokens;
  std::string expert_dtype;  // "fp4", "fp8" or empty: what the checkpoint is said to hold; its tensors decide

  bool operator==(const ModelConfig&) const = default;

  int num_layers() const { return static_cast<int>(layer_types.size()); }
  // Tokens that one compressed entry of a CSA or HCA layer stands for.
  int ratio(LayerType type) const { return type == LayerType::kCsa ? csa_ratio : hca_ratio; }
};

}  // namespace dsv4
