#include "engine/weights/model_shapes.h"

namespace dsv4 {
namespace {

using enum LayerType;

// CSA and HCA in turn, CSA last, after the first layers.
void interleave(ModelConfig& c, int pairs) {
  for (int i = 0; i < pairs; ++i) {
    c.layer_types.push_back(kCsa);
    c.layer_types.push_back(kHca);
  }
  c.layer_types.push_back(kCsa);
}

void hash_first(ModelConfig& c, int count) {
  for (int i = 0; i < c.num_layers(); ++i) c.hash_layers.push_back(i < count);
}

ModelConfig tiny() {
  ModelConfig c;
  c.vocab_size = 256;
  c.hidden_size = 128;
  c.num_heads = 8;
  c.head_dim = 64;
  c.rope_dim = 16;
  c.q_lora_rank = 64;
  c.o_groups = 2;
  c.o_lora_rank = 32;
  c.sliding_window = 16;
  c.layer_types = {kSliding, kHca, kCsa, kHca, kCsa, kSliding};
  c.hca_ratio = 16;
  c.index_heads = 8;
  c.index_head_dim = 32;
  c.index_topk = 4;
  hash_first(c, 2);
  c.num_experts = 8;
  c.experts_per_token = 2;
  c.expert_size = 64;
  c.routed_scaling = 1.5;
  c.swiglu_limit = 1;  // low, so that both clamps act
  c.hc_mult = 4;
  c.hc_sinkhorn_iters = 20;
  c.hc_eps = c.rms_norm_eps = 1e-6;
  c.rope_theta = 10000;
  c.compress_rope_theta = 160000;
  c.yarn = YarnScaling{16, 32, 1, 64};
  c.max_positions = 4096;
  c.stop_tokens = {1};
  return c;
}

// What Flash and Pro share.
ModelConfig published() {
  ModelConfig c;
  c.vocab_size = 129280;
  c.head_dim = 512;
  c.rope_dim = 64;
  c.o_lora_rank = 1024;
  c.sliding_window = 128;
  c.index_heads = 64;
  c.index_head_dim = 128;
  c.experts_per_token = 6;
  c.swiglu_limit = 10;
  c.hc_mult = 4;
  c.hc_sinkhorn_iters = 20;
  c.hc_eps = c.rms_norm_eps = 1e-6;
  c.rope_theta = 10000;
  c.compress_rope_theta = 160000;
  c.yarn = YarnScaling{16, 32, 1, 65536};
  c.max_positions = 1048576;
  c.stop_tokens = {1};
  c.expert_dtype = "fp4";
  return c;
}

ModelConfig flash() {
  ModelConfig c = published();
  c.hidden_size = 4096;
  c.num_heads = 64;
  c.q_lora_rank = 1024;
  c.o_groups = 8;
  c.index_topk = 512;
  c.num_experts = 256;
  c.expert_size = 2048;
  c.routed_scaling = 1.5;
  c.layer_types = {kSliding, kSliding};
  interleave(c, 20);
  hash_first(c, 3);
  return c;
}

ModelConfig pro() {
  ModelConfig c = published();
  c.hidden_size = 7168;
  c.num_heads = 128;
  c.q_lora_rank = 1536;
  c.o_groups = 16;
  c.index_topk = 1024;
  c.num_experts = 384;
  c.expert_size = 3072;
  c.routed_scaling = 2.5;
  c.layer_types = {kHca, kHca};
  interleave(c, 29);
  hash_first(c, 3);
  return c;
}

}  // namespace

std::optional<ModelConfig> model_shape(std::string_view name) {
  if (name == "tiny") return tiny();
  if (name == "flash") return flash();
  if (name == "pro") return pro();
  return std::nullopt;
}

ModelConfig truncated(ModelConfig config, int layers) {
  config.layer_types.resize(static_cast<std::size_t>(layers));
  config.hash_layers.resize(static_cast<std::size_t>(layers));
  return config;
}

}  // namespace dsv4
