#include "engine/checkpoint/tensor_names.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>
#include <utility>

namespace dsv4 {
namespace {

constexpr std::pair<std::string_view, std::string_view> kModelNames[] = {
    {"embed.weight", "embed_tokens.weight"}, {"norm.weight", "norm.weight"},
    {"hc_head_fn", "hc_head.hc_fn"},         {"hc_head_base", "hc_head.hc_base"},
    {"hc_head_scale", "hc_head.hc_scale"},   {"head.weight", "lm_head.weight"},
};

// Within a layer; a name ending in '.' is a prefix.
constexpr std::pair<std::string_view, std::string_view> kLayerNames[] = {
    {"attn_norm.", "input_layernorm."},
    {"ffn_norm.", "post_attention_layernorm."},
    {"hc_attn_fn", "attn_hc.fn"},
    {"hc_attn_base", "attn_hc.base"},
    {"hc_attn_scale", "attn_hc.scale"},
    {"hc_ffn_fn", "ffn_hc.fn"},
    {"hc_ffn_base", "ffn_hc.base"},
    {"hc_ffn_scale", "ffn_hc.scale"},
    {"attn.wq_a.", "self_attn.q_a_proj."},
    {"attn.q_norm.", "self_attn.q_a_norm."},
    {"attn.wq_b.", "self_attn.q_b_proj."},
    {"attn.wkv.", "self_attn.kv_proj."},
    {"attn.kv_norm.", "self_attn.kv_norm."},
    // As transformers 5.17 saves it: its rule that names the compressors' norms back fits this one, too.
    {"attn.kv_norm.", "attn.norm."},
    {"attn.attn_sink", "self_attn.sinks"},
    {"attn.wo_a.", "self_attn.o_a_proj."},
    {"attn.wo_b.", "self_attn.o_b_proj."},
    {"attn.compressor.wkv.", "self_attn.compressor.kv_proj."},
    {"attn.compressor.wgate.", "self_attn.compressor.gate_proj."},
    {"attn.compressor.ape", "self_attn.compressor.position_bias"},
    {"attn.compressor.norm.", "self_attn.compressor.kv_norm."},
    {"attn.indexer.wq_b.", "self_attn.compressor.indexer.q_b_proj."},
    {"attn.indexer.weights_proj.", "self_attn.compressor.indexer.scorer.weights_proj."},
    {"attn.indexer.weights_proj.", "self_attn.compressor.indexer.weights_proj."},
    {"attn.indexer.compressor.wkv.", "self_attn.compressor.indexer.kv_proj."},
    {"attn.indexer.compressor.wgate.", "self_attn.compressor.indexer.gate_proj."},
    {"attn.indexer.compressor.ape", "self_attn.compressor.indexer.position_bias"},
    {"attn.indexer.compressor.norm.", "self_attn.compressor.indexer.kv_norm."},
    {"ffn.gate.weight", "mlp.gate.weight"},
    {"ffn.gate.bias", "mlp.gate.e_score_correction_bias"},
    {"ffn.gate.tid2eid", "mlp.gate.tid2eid"},
    {"ffn.shared_experts.w1.", "mlp.shared_experts.gate_proj."},
    {"ffn.shared_experts.w3.", "mlp.shared_experts.up_proj."},
    {"ffn.shared_experts.w2.", "mlp.shared_experts.down_proj."},
};

struct ExpertName {
  std::string layer;  // "layers.3."
  int expert;
  std::string matrix;  // "w1"
  std::string suffix;  // "weight" or "scale"
};

// "layers.L.ffn.experts.E.wN.SUFFIX"
std::optional<ExpertName> parse_expert(const std::string& upstream) {
  constexpr std::string_view kMark = "ffn.experts.";
  const auto at = upstream.find(kMark);
  if (at == std::string::npos) return std::nullopt;
  ExpertName name{upstream.substr(0, at), 0, {}, {}};
  const char* end = upstream.data() + upstream.size();
  const auto [rest, failure] = std::from_chars(upstream.data() + at + kMark.size(), end, name.expert);
  if (failure != std::errc{} || end - rest < 5 || *rest != '.') return std::nullopt;
  name.matrix.assign(rest + 1, rest + 3);
  name.suffix.assign(rest + 4, end);
  return name;
}

void add_with_prefix(std::vector<std::string>& names, std::string name) {
  names.push_back("model." + name);
  names.push_back(std::move(name));
}

}  // namespace

std::vector<std::string> accepted_names(const std::string& upstream) {
  std::vector<std::string> bases = {upstream};
  if (const auto expert = parse_expert(upstream)) {
    const char* projection = "down_proj";
    if (expert->matrix == "w1") projection = "gate_proj";
    if (expert->matrix == "w3") projection = "up_proj";
    bases.push_back(
        fmt::format("{}mlp.experts.{}.{}.{}", expert->layer, expert->expert, projection, expert->suffix));
  } else if (upstream.starts_with("layers.")) {
    const auto rest_at = upstream.find('.', 7) + 1;
    const std::string_view rest = std::string_view(upstream).substr(rest_at);
    for (const auto& [ours, theirs] : kLayerNames) {
      const bool prefix = ours.ends_with('.');
      if (prefix ? !rest.starts_with(ours) : rest != ours) continue;
      bases.push_back(fmt::format("{}{}{}", upstream.substr(0, rest_at), theirs, rest.substr(ours.size())));
    }
  } else {
    for (const auto& [ours, theirs] : kModelNames)
      if (upstream == ours && ours != theirs) bases.emplace_back(theirs);
  }
  std::vector<std::string> names = {upstream};
  for (const std::string& base : bases) {
    // A block scale is "X.scale" upstream and "X.weight_scale_inv" in transformers.
    std::vector<std::string> spellings = {base};
    if (base.ends_with(".scale") && base.find("hc_") == std::string::npos &&
        base.find("_hc.") == std::string::npos)
      spellings.push_back(base.substr(0, base.size() - 5) + "weight_scale_inv");
    for (auto& spelling : spellings) {
      if (spelling == upstream)
        names.push_back("model." + spelling);
      else
        add_with_prefix(names, std::move(spelling));
    }
  }
  return names;
}

std::optional<PackedExpert> packed_expert(const std::string& upstream) {
  const auto expert = parse_expert(upstream);
  if (!expert || expert->suffix != "weight") return std::nullopt;
  const bool down = expert->matrix == "w2";
  PackedExpert packed{{}, expert->expert, expert->matrix == "w3" ? 1 : 0, down ? 1 : 2};
  add_with_prefix(packed.names,
                  expert->layer + (down ? "mlp.experts.down_proj" : "mlp.experts.gate_up_proj"));
  return packed;
}

}  // namespace dsv4
