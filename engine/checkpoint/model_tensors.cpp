#include "engine/checkpoint/model_tensors.h"

#include <fmt/format.h>

namespace dsv4 {

std::vector<TensorSpec> model_tensors(const ModelConfig& c) {
  std::vector<TensorSpec> out;
  const auto matrix = [&](std::string name, std::int64_t rows, std::int64_t cols, TensorRole role) {
    out.push_back({std::move(name), rows, cols, role, false});
  };
  const auto vector = [&](std::string name, std::int64_t size, TensorRole role) {
    out.push_back({std::move(name), 1, size, role, true});
  };
  const std::int64_t d = c.hidden_size, n = c.hc_mult;
  matrix("embed.weight", c.vocab_size, d, TensorRole::kEmbedding);
  for (int layer = 0; layer < c.num_layers(); ++layer) {
    const std::string p = fmt::format("layers.{}.", layer);
    const LayerType type = c.layer_types[layer];
    vector(p + "attn_norm.weight", d, TensorRole::kNorm);
    vector(p + "ffn_norm.weight", d, TensorRole::kNorm);
    for (const char* site : {"attn", "ffn"}) {
      matrix(fmt::format("{}hc_{}_fn", p, site), (2 + n) * n, n * d, TensorRole::kHcMixer);
      vector(fmt::format("{}hc_{}_base", p, site), (2 + n) * n, TensorRole::kHcBase);
      vector(fmt::format("{}hc_{}_scale", p, site), 3, TensorRole::kHcScale);
    }
    const std::string a = p + "attn.";
    matrix(a + "wq_a.weight", c.q_lora_rank, d, TensorRole::kProjection);
    vector(a + "q_norm.weight", c.q_lora_rank, TensorRole::kNorm);
    matrix(a + "wq_b.weight", std::int64_t{c.num_heads} * c.head_dim, c.q_lora_rank, TensorRole::kProjection);
    matrix(a + "wkv.weight", c.head_dim, d, TensorRole::kProjection);
    vector(a + "kv_norm.weight", c.head_dim, TensorRole::kNorm);
    vector(a + "attn_sink", c.num_heads, TensorRole::kSink);
    matrix(a + "wo_a.weight", std::int64_t{c.o_groups} * c.o_lora_rank,
           std::int64_t{c.num_heads} / c.o_groups * c.head_dim, TensorRole::kProjection);
    matrix(a + "wo_b.weight", d, std::int64_t{c.o_groups} * c.o_lora_rank, TensorRole::kProjection);
    const auto compressor = [&](const std::string& prefix, std::int64_t dim) {
      const std::int64_t width = type == LayerType::kCsa ? 2 * dim : dim;
      matrix(prefix + "wkv.weight", width, d, TensorRole::kLinear);
      matrix(prefix + "wgate.weight", width, d, TensorRole::kLinear);
      matrix(prefix + "ape", c.ratio(type), width, TensorRole::kPositionBias);
      vector(prefix + "norm.weight", dim, TensorRole::kNorm);
    };
    if (type != LayerType::kSliding) compressor(a + "compressor.", c.head_dim);
    if (type == LayerType::kCsa) {
      matrix(a + "indexer.wq_b.weight", std::int64_t{c.index_heads} * c.index_head_dim, c.q_lora_rank,
             TensorRole::kProjection);
      matrix(a + "indexer.weights_proj.weight", c.index_heads, d, TensorRole::kLinear);
      compressor(a + "indexer.compressor.", c.index_head_dim);
    }
    const std::string f = p + "ffn.";
    matrix(f + "gate.weight", c.num_experts, d, TensorRole::kLinear);
    if (c.hash_layers[layer])
      matrix(f + "gate.tid2eid", c.vocab_size, c.experts_per_token, TensorRole::kHashTable);
    else
      vector(f + "gate.bias", c.num_experts, TensorRole::kRouterBias);
    const auto expert = [&](const std::string& prefix, TensorRole role) {
      matrix(prefix + "w1.weight", c.expert_size, d, role);
      matrix(prefix + "w2.weight", d, c.expert_size, role);
      matrix(prefix + "w3.weight", c.expert_size, d, role);
    };
    for (int e = 0; e < c.num_experts; ++e) expert(fmt::format("{}experts.{}.", f, e), TensorRole::kExpert);
    expert(f + "shared_experts.", TensorRole::kProjection);
  }
  vector("norm.weight", d, TensorRole::kNorm);
  matrix("hc_head_fn", n, n * d, TensorRole::kHcMixer);
  vector("hc_head_base", n, TensorRole::kHcBase);
  vector("hc_head_scale", 1, TensorRole::kHcScale);
  matrix("head.weight", c.vocab_size, d, TensorRole::kLinear);
  return out;
}

std::string scale_name(const std::string& weight_name) {
  return weight_name.substr(0, weight_name.size() - std::string("weight").size()) + "scale";
}

}  // namespace dsv4
