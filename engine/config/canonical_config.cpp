#include "engine/config/canonical_config.h"

#include <sodium.h>

#include <nlohmann/json.hpp>

namespace dsv4 {

using OrderedJson = nlohmann::ordered_json;

const char* layer_type_name(LayerType type) {
  switch (type) {
    case LayerType::kSliding:
      return "sliding_attention";
    case LayerType::kCsa:
      return "compressed_sparse_attention";
    case LayerType::kHca:
      break;
  }
  return "heavily_compressed_attention";
}

std::string canonical_config(const ModelConfig& c) {
  OrderedJson layers = OrderedJson::array(), mlp = OrderedJson::array();
  for (const LayerType type : c.layer_types) layers.push_back(layer_type_name(type));
  for (const bool hash : c.hash_layers) mlp.push_back(hash ? "hash_moe" : "moe");
  const double rotary = static_cast<double>(c.rope_dim) / c.head_dim;
  OrderedJson main = {
      {"rope_type", "default"}, {"rope_theta", c.rope_theta}, {"partial_rotary_factor", rotary}};
  OrderedJson compress = {{"rope_type", c.yarn ? "yarn" : "default"},
                          {"rope_theta", c.compress_rope_theta},
                          {"partial_rotary_factor", rotary}};
  if (c.yarn) {
    compress["factor"] = c.yarn->factor;
    compress["beta_fast"] = c.yarn->beta_fast;
    compress["beta_slow"] = c.yarn->beta_slow;
    compress["original_max_position_embeddings"] = c.yarn->original_max_positions;
    compress["attention_factor"] = 1.0;
  }
  OrderedJson out = {
      {"architectures", {"DeepseekV4ForCausalLM"}},
      {"model_type", "deepseek_v4"},
      {"vocab_size", c.vocab_size},
      {"hidden_size", c.hidden_size},
      {"num_hidden_layers", c.num_layers()},
      {"num_attention_heads", c.num_heads},
      {"num_key_value_heads", 1},
      {"head_dim", c.head_dim},
      {"qk_rope_head_dim", c.rope_dim},
      {"q_lora_rank", c.q_lora_rank},
      {"o_groups", c.o_groups},
      {"o_lora_rank", c.o_lora_rank},
      {"sliding_window", c.sliding_window},
      {"layer_types", layers},
      {"compress_rates",
       {{"compressed_sparse_attention", c.csa_ratio}, {"heavily_compressed_attention", c.hca_ratio}}},
      {"index_n_heads", c.index_heads},
      {"index_head_dim", c.index_head_dim},
      {"index_topk", c.index_topk},
      {"mlp_layer_types", mlp},
      {"n_routed_experts", c.num_experts},
      {"n_shared_experts", 1},
      {"num_experts_per_tok", c.experts_per_token},
      {"moe_intermediate_size", c.expert_size},
      {"scoring_func", "sqrtsoftplus"},
      {"norm_topk_prob", true},
      {"routed_scaling_factor", c.routed_scaling},
      {"swiglu_limit", c.swiglu_limit},
      {"hc_mult", c.hc_mult},
      {"hc_sinkhorn_iters", c.hc_sinkhorn_iters},
      {"hc_eps", c.hc_eps},
      {"rms_norm_eps", c.rms_norm_eps},
      {"rope_parameters", {{"main", main}, {"compress", compress}}},
      {"partial_rotary_factor", rotary},
      {"max_position_embeddings", c.max_positions},
      {"bos_token_id", c.bos_token},
      {"eos_token_id", c.stop_tokens},
      {"tie_word_embeddings", false}};
  if (!c.expert_dtype.empty()) {
    out["expert_dtype"] = c.expert_dtype;
    out["quantization_config"] = {
        {"quant_method", "fp8"}, {"fmt", "e4m3"}, {"scale_fmt", "ue8m0"}, {"weight_block_size", {128, 128}}};
  }
  return out.dump(2) + "\n";
}

std::string config_digest(const ModelConfig& config) {
  const std::string text = canonical_config(config);
  unsigned char hash[crypto_hash_sha256_BYTES];
  crypto_hash_sha256(hash, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  std::string hex(2 * sizeof hash + 1, '\0');
  sodium_bin2hex(hex.data(), hex.size(), hash, sizeof hash);
  hex.pop_back();
  return hex;
}

}  // namespace dsv4
