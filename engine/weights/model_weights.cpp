#include "engine/weights/model_weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unordered_map>

#include "engine/checkpoint/model_tensors.h"
#include "engine/checkpoint/tensor_names.h"

namespace dsv4 {
namespace {

using capgate::Error;
using capgate::Result;

bool is(const TensorView& view, DType dtype, const std::vector<std::int64_t>& shape) {
  return view.dtype == dtype && view.shape == shape;
}

class Binder {
 public:
  Binder(const ModelConfig& config, const TensorSource& source) : config_(config), source_(source) {}

  Result<void> bind_all() {
    for (const auto& spec : model_tensors(config_)) {
      auto bound = spec.role == TensorRole::kHashTable ? bind_table(spec) : bind_matrix(spec);
      if (!bound) return Error{fmt::format("{}: {}", source_.description(), bound.error())};
    }
    return {};
  }

  const WeightMatrix& matrix(const std::string& name) const { return matrices_.at(name); }
  const HashTable& table(const std::string& name) const { return tables_.at(name); }

  HyperConnectionWeights hyper_connection(const std::string& stem) const {
    return {matrix(stem + "_fn"), matrix(stem + "_base"), matrix(stem + "_scale")};
  }
  CompressorWeights compressor(const std::string& p) const {
    return {matrix(p + "wkv.weight"), matrix(p + "wgate.weight"), matrix(p + "ape"),
            matrix(p + "norm.weight")};
  }
  ExpertWeights expert(const std::string& p) const {
    return {matrix(p + "w1.weight"), matrix(p + "w2.weight"), matrix(p + "w3.weight")};
  }

 private:
  Result<TensorView> get(const std::string& name) const {
    if (const auto both = source_.contradiction(name))
      return Error{fmt::format("tensor \"{}\" is there twice, with different data: as {} and as {}", name,
                               both->first, both->second)};
    if (auto view = source_.find(name)) return std::move(*view);
    return Error{
        fmt::format("tensor \"{}\" is missing (looked for {})", name, fmt::join(accepted_names(name), ", "))};
  }

  static Error wrong(const TensorSpec& spec, const TensorView& view, std::string_view wanted) {
    return Error{fmt::format("tensor \"{}\" is {} {} where {} is needed", spec.name, dtype_name(view.dtype),
                             shape_text(view.shape), wanted)};
  }

  Result<void> bind_matrix(const TensorSpec& spec) {
    auto view = get(spec.name);
    if (!view) return Error{view.error()};
    WeightMatrix m;
    m.rows = static_cast<int>(spec.rows);
    m.cols = static_cast<int>(spec.cols);
    m.data = view->data;
    const std::vector<std::int64_t> plain =
        spec.vector ? std::vector{spec.cols} : std::vector{spec.rows, spec.cols};
    const bool may_be_quantised = spec.role == TensorRole::kProjection || spec.role == TensorRole::kExpert;
    if (is(*view, DType::kF32, plain)) {
      m.format = WeightFormat::kF32;
    } else if (is(*view, DType::kBf16, plain)) {
      m.format = WeightFormat::kBf16;
    } else if (is(*view, DType::kF16, plain)) {
      m.format = WeightFormat::kF16;
    } else if (may_be_quantised && is(*view, DType::kF8E4m3, plain)) {
      m.format = WeightFormat::kFp8Block;
      const auto up = [](std::int64_t x) {
        return (x + WeightMatrix::kFp8Block - 1) / WeightMatrix::kFp8Block;
      };
      if (auto ok = bind_scale(spec, {up(spec.rows), up(spec.cols)}, true, m); !ok) return ok;
    } else if (spec.role == TensorRole::kExpert && spec.cols % WeightMatrix::kFp4Group == 0 &&
               is(*view, DType::kI8, {spec.rows, spec.cols / 2})) {
      m.format = WeightFormat::kFp4Row;
      if (auto ok = bind_scale(spec, {spec.rows, spec.cols / WeightMatrix::kFp4Group}, false, m); !ok)
        return ok;
    } else {
      return wrong(
          spec, *view,
          fmt::format("{} (F32, BF16, F16{}{})", shape_text(plain), may_be_quantised ? ", F8_E4M3" : "",
                      spec.role == TensorRole::kExpert ? ", or I8 with half the columns" : ""));
    }
    matrices_.emplace(spec.name, m);
    return {};
  }

  Result<void> bind_scale(const TensorSpec& spec, const std::vector<std::int64_t>& shape, bool may_be_f32,
                          WeightMatrix& m) {
    const TensorSpec of{scale_name(spec.name), shape[0], shape[1], spec.role, false};
    auto view = get(of.name);
    if (!view) return Error{view.error()};
    m.scale = view->data;
    m.scale_is_f32 = may_be_f32 && is(*view, DType::kF32, shape);
    if (!m.scale_is_f32 && !is(*view, DType::kF8E8m0, shape))
      return wrong(of, *view, fmt::format("F8_E8M0 {}", shape_text(shape)));
    return {};
  }

  Result<void> bind_table(const TensorSpec& spec) {
    auto view = get(spec.name);
    if (!view) return Error{view.error()};
    const std::vector<std::int64_t> shape = {spec.rows, spec.cols};
    const bool wide = is(*view, DType::kI64, shape);
    if (!wide && !is(*view, DType::kI32, shape))
      return wrong(spec, *view, fmt::format("I64 or I32 {}", shape_text(shape)));
    const HashTable table{static_cast<int>(spec.cols), wide, view->data};
    for (std::int64_t i = 0; i < spec.rows * spec.cols; ++i) {
      std::int64_t value = 0;
      std::int32_t narrow = 0;
      if (wide)
        std::memcpy(&value, view->data + 8 * i, 8);
      else
        std::memcpy(&narrow, view->data + 4 * i, 4);
      if (!wide) value = narrow;
      if (value < 0 || value >= config_.num_experts)
        return Error{fmt::format("tensor \"{}\" sends token {} to expert {} of {}", spec.name, i / spec.cols,
                                 value, config_.num_experts)};
    }
    tables_.emplace(spec.name, table);
    return {};
  }

  const ModelConfig& config_;
  const TensorSource& source_;
  std::unordered_map<std::string, WeightMatrix> matrices_;
  std::unordered_map<std::string, HashTable> tables_;
};

}  // namespace

Result<ModelWeights> bind_weights(const ModelConfig& config, const TensorSource& source) {
  Binder in(config, source);
  if (auto ok = in.bind_all(); !ok) return Error{ok.error()};
  ModelWeights weights;
  weights.embed = in.matrix("embed.weight");
  weights.norm = in.matrix("norm.weight");
  weights.head = in.matrix("head.weight");
  weights.hc_head = in.hyper_connection("hc_head");
  for (int i = 0; i < config.num_layers(); ++i) {
    const std::string p = fmt::format("layers.{}.", i), a = p + "attn.", f = p + "ffn.";
    const LayerType type = config.layer_types[i];
    LayerWeights layer;
    layer.attn_norm = in.matrix(p + "attn_norm.weight");
    layer.ffn_norm = in.matrix(p + "ffn_norm.weight");
    layer.attn_hc = in.hyper_connection(p + "hc_attn");
    layer.ffn_hc = in.hyper_connection(p + "hc_ffn");
    layer.wq_a = in.matrix(a + "wq_a.weight");
    layer.q_norm = in.matrix(a + "q_norm.weight");
    layer.wq_b = in.matrix(a + "wq_b.weight");
    layer.wkv = in.matrix(a + "wkv.weight");
    layer.kv_norm = in.matrix(a + "kv_norm.weight");
    layer.attn_sink = in.matrix(a + "attn_sink");
    layer.wo_a = in.matrix(a + "wo_a.weight");
    layer.wo_b = in.matrix(a + "wo_b.weight");
    if (type != LayerType::kSliding) layer.compressor = in.compressor(a + "compressor.");
    if (type == LayerType::kCsa)
      layer.indexer = {in.matrix(a + "indexer.wq_b.weight"), in.matrix(a + "indexer.weights_proj.weight"),
                       in.compressor(a + "indexer.compressor.")};
    layer.gate = in.matrix(f + "gate.weight");
    if (config.hash_layers[i])
      layer.tid2eid = in.table(f + "gate.tid2eid");
    else
      layer.gate_bias = in.matrix(f + "gate.bias");
    for (int e = 0; e < config.num_experts; ++e)
      layer.experts.push_back(in.expert(fmt::format("{}experts.{}.", f, e)));
    layer.shared = in.expert(f + "shared_experts.");
    weights.layers.push_back(std::move(layer));
  }
  return weights;
}

}  // namespace dsv4
