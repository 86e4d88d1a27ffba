#include "engine/cuda/weights/device_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "engine/cuda/memory/status.h"
#include "engine/model/rope_table.h"
#include "kernels/generate_elements.h"
#include "kernels/tiles.h"

namespace dsv4::cuda {
namespace {

using capgate::Error;
using capgate::Result;
using kernels::ExpertMatrices;
using kernels::Matrix;

kernels::Format format_of(WeightFormat format) {
  switch (format) {
    case WeightFormat::kF32:
      return kernels::Format::kF32;
    case WeightFormat::kBf16:
      return kernels::Format::kBf16;
    case WeightFormat::kF16:
      return kernels::Format::kF16;
    case WeightFormat::kFp8Block:
      return kernels::Format::kFp8Block;
    case WeightFormat::kFp4Row:
      return kernels::Format::kFp4Row;
  }
  return kernels::Format::kF32;
}

using Matrices = std::span<const WeightMatrix>;

class Uploader {
 public:
  Uploader(DeviceMemory& memory, const UnmadeTensors* unmade, cudaStream_t stream)
      : memory_(memory), unmade_(unmade), stream_(stream) {}

  Matrix matrix(const WeightMatrix& w) { return experts(Matrices(&w, 1)).first; }
  Matrix by_rows(const WeightMatrix& w) { return experts_by_rows(Matrices(&w, 1)).first; }

  // Matrices of one shape and format, packed: in tiles where that can be.
  ExpertMatrices experts(Matrices all) {
    return tiled(all) ? experts_in_tiles(all, {}) : experts_by_rows(all);
  }

  // Of one shape and format that has a streaming kernel?
  bool tiled(Matrices all) const {
    return std::ranges::all_of(all, [&](const WeightMatrix& w) { return alike(w, all.front()); }) &&
           kernels::can_be_tiled(described(all.front()));
  }
  static bool alike(const WeightMatrix& a, const WeightMatrix& b) {
    return a.format == b.format && a.scale_is_f32 == b.scale_is_f32 && a.rows == b.rows && a.cols == b.cols;
  }

  ExpertMatrices experts_by_rows(Matrices all) {
    const WeightMatrix& w = all.front();
    ExpertMatrices out;
    out.first = described(w);
    out.data_stride = data_size(out.first);
    out.scale_stride = scale_size(out.first);
    const auto count = static_cast<std::int64_t>(all.size());
    auto* data = memory_.take<std::byte>(out.data_stride * count);
    auto* scale = memory_.take<std::byte>(out.scale_stride * count);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!alike(all[i], w)) mixed_ = true;
      if (mixed_ || data == nullptr) return out;
      const auto n = static_cast<std::int64_t>(i);
      fill(data + n * out.data_stride, all[i].data, out.data_stride);
      if (scale != nullptr) fill(scale + n * out.scale_stride, all[i].scale, out.scale_stride);
    }
    out.first.data = data;
    out.first.scale = scale;
    return out;
  }

  // Each through a buffer that has it by rows; with `second`, two side by side.
  ExpertMatrices experts_in_tiles(Matrices all, Matrices second) {
    const Matrix shape = described(all.front());
    ExpertMatrices out;
    out.data_stride = second.empty() ? kernels::tiled_bytes(shape.format, shape.rows, shape.cols)
                                     : kernels::tiled_pair_bytes(shape.format, shape.rows, shape.cols);
    auto* data = memory_.take<std::byte>(out.data_stride * static_cast<std::int64_t>(all.size()));
    if (data == nullptr) return out;
    for (std::size_t i = 0; i < all.size(); ++i) {
      void* const to = data + static_cast<std::int64_t>(i) * out.data_stride;
      const Matrix one = staged(all[i], 0);
      if (one.data == nullptr) return out;
      Matrix laid;
      if (second.empty()) {
        laid = kernels::lay_out(stream_, one, to);
      } else {
        const Matrix other = staged(second[i], 1);
        if (other.data == nullptr) return out;
        laid = kernels::lay_out_pair(stream_, one, other, to);
      }
      if (i == 0) out.first = laid;
    }
    return out;
  }

  const float* floats(const WeightMatrix& w) { return floats(w.decode_all<float>()); }
  const float* floats(const std::vector<float>& v) {
    return memory_.copy(v.data(), static_cast<std::int64_t>(v.size()), stream_);
  }

  const int* table(const HashTable& t, int vocab) {
    std::vector<int> experts;
    for (int token = 0; token < vocab; ++token)
      for (int slot = 0; slot < t.k; ++slot) experts.push_back(t.expert(token, slot));
    return memory_.copy(experts.data(), static_cast<std::int64_t>(experts.size()), stream_);
  }

  DeviceSite site(const HyperConnectionWeights& w) { return {matrix(w.fn), floats(w.base), floats(w.scale)}; }
  DeviceCompressor compressor(const CompressorWeights& w) {
    return {matrix(w.kv), matrix(w.gate), floats(w.ape), floats(w.norm)};
  }

  bool mixed() const { return mixed_; }
  Result<void> state() const {
    if (auto ok = memory_.state(); !ok) return ok;
    return staging_.state();
  }

 private:
  static Matrix described(const WeightMatrix& w) {
    return {nullptr, nullptr, w.rows, w.cols, format_of(w.format), w.scale_is_f32};
  }
  static std::int64_t data_size(const Matrix& m) { return kernels::data_bytes(m.format, m.rows, m.cols); }
  static std::int64_t scale_size(const Matrix& m) {
    return kernels::scale_bytes(m.format, m.scale_is_f32, m.rows, m.cols);
  }

  // The matrix by rows in a buffer that the next one is put into, too: work of one stream, in its order.
  Matrix staged(const WeightMatrix& w, int which) {
    Matrix m = described(w);
    Staging& s = staging_of_[which];
    const std::int64_t scale_at = (data_size(m) + 255) / 256 * 256, size = scale_at + scale_size(m);
    if (size > s.size) s = {staging_.take<std::byte>(size), size};
    if (s.data == nullptr) return m;
    fill(s.data, w.data, data_size(m));
    if (size > scale_at) fill(s.data + scale_at, w.scale, scale_size(m));
    m.data = s.data;
    m.scale = s.data + scale_at;
    return m;
  }

  void fill(std::byte* device, const std::byte* host, std::int64_t size) {
    const StoredTensor* tensor = unmade_ != nullptr ? unmade_->unmade(host) : nullptr;
    if (tensor == nullptr)
      memory_.fill(device, host, static_cast<std::size_t>(size), stream_);
    else
      kernels::generate_elements(stream_, element_rule(unmade_->seed(), *tensor), tensor->dtype,
                                 size / static_cast<std::int64_t>(dtype_size(tensor->dtype)), device);
  }

  struct Staging {
    std::byte* data = nullptr;
    std::int64_t size = 0;
  };
  DeviceMemory& memory_;
  DeviceMemory staging_;
  Staging staging_of_[2];
  const UnmadeTensors* unmade_;
  cudaStream_t stream_;
  bool mixed_ = false;
};

DeviceLayer upload_layer(const ModelConfig& c, int index, const LayerWeights& w, Uploader& up) {
  DeviceLayer out;
  out.type = c.layer_types[index];
  out.attn_norm = up.floats(w.attn_norm);
  out.ffn_norm = up.floats(w.ffn_norm);
  out.q_norm = up.floats(w.q_norm);
  out.kv_norm = up.floats(w.kv_norm);
  out.sink = up.floats(w.attn_sink);
  out.attn_hc = up.site(w.attn_hc);
  out.ffn_hc = up.site(w.ffn_hc);
  out.wq_a = up.matrix(w.wq_a);
  out.wq_b = up.matrix(w.wq_b);
  out.wkv = up.matrix(w.wkv);
  // A tile is of one group.
  out.wo_a = c.o_lora_rank % kernels::kTileRows == 0 ? up.matrix(w.wo_a) : up.by_rows(w.wo_a);
  out.wo_b = up.matrix(w.wo_b);
  if (out.type != LayerType::kSliding) out.compressor = up.compressor(w.compressor);
  if (out.type == LayerType::kCsa) {
    out.index_wq_b = up.matrix(w.indexer.wq_b);
    out.index_weights = up.matrix(w.indexer.weights_proj);
    out.index_compressor = up.compressor(w.indexer.compressor);
  }
  out.gate = up.matrix(w.gate);
  if (c.hash_layers[index])
    out.table = up.table(w.tid2eid, c.vocab_size);
  else
    out.gate_bias = up.floats(w.gate_bias);
  std::vector<WeightMatrix> w1, w2, w3;
  for (const ExpertWeights& e : w.experts) {
    w1.push_back(e.w1);
    w2.push_back(e.w2);
    w3.push_back(e.w3);
  }
  const Matrices shared_w1(&w.shared.w1, 1), shared_w2(&w.shared.w2, 1), shared_w3(&w.shared.w3, 1);
  // One launch has the routed experts and the shared one.
  if (up.tiled(w1) && up.tiled(w3) && up.tiled(shared_w1) && up.tiled(shared_w3) && up.alike(w1[0], w3[0]) &&
      up.alike(shared_w1[0], shared_w3[0])) {
    out.both = up.experts_in_tiles(w1, w3);
    out.shared_both = up.experts_in_tiles(shared_w1, shared_w3).first;
  } else {
    out.w1 = up.experts_by_rows(w1);
    out.w3 = up.experts_by_rows(w3);
    out.shared_w1 = up.by_rows(w.shared.w1);
    out.shared_w3 = up.by_rows(w.shared.w3);
  }
  if (up.tiled(w2) && up.tiled(shared_w2)) {
    out.w2 = up.experts_in_tiles(w2, {});
    out.shared_w2 = up.experts_in_tiles(shared_w2, {}).first;
  } else {
    out.w2 = up.experts_by_rows(w2);
    out.shared_w2 = up.by_rows(w.shared.w2);
  }
  return out;
}

double bytes_of(const Matrix& m) {
  return static_cast<double>(kernels::data_bytes(m.format, m.rows, m.cols) +
                             kernels::scale_bytes(m.format, m.scale_is_f32, m.rows, m.cols));
}

}  // namespace

Result<DeviceWeights> upload_weights(const ModelConfig& config, const ModelWeights& weights,
                                     const UnmadeTensors* unmade, DeviceMemory& memory, cudaStream_t stream) {
  Uploader up(memory, unmade, stream);
  DeviceWeights out;
  out.embed = up.by_rows(weights.embed);  // read a row at a time
  out.head = up.matrix(weights.head);
  out.norm = up.floats(weights.norm);
  out.hc_head = up.site(weights.hc_head);
  const auto table = [&](LayerType type) {
    const auto exact = rope_frequencies(config, type);
    return up.floats(std::vector<float>(exact.begin(), exact.end()));
  };
  out.plain_frequencies = table(LayerType::kSliding);
  out.compress_frequencies = table(LayerType::kHca);
  for (int i = 0; i < config.num_layers(); ++i) {
    out.layers.push_back(upload_layer(config, i, weights.layers[static_cast<std::size_t>(i)], up));
    if (up.mixed()) return Error{fmt::format("layer {} has experts of different formats", i)};
  }
  if (auto ok = up.state(); !ok) return Error{ok.error()};
  if (auto ok = done(cudaPeekAtLastError(), "making the weights on the device"); !ok)
    return Error{ok.error()};
  if (auto ok = done(cudaStreamSynchronize(stream), "copying the weights to the device"); !ok)
    return Error{ok.error()};
  return out;
}

double weight_bytes_per_token(const ModelConfig& config, const DeviceWeights& weights) {
  double bytes = bytes_of(weights.head) + bytes_of(weights.hc_head.fn);
  for (const DeviceLayer& l : weights.layers) {
    for (const Matrix& m :
         {l.attn_hc.fn, l.ffn_hc.fn, l.wq_a, l.wq_b, l.wkv, l.wo_a, l.wo_b, l.index_wq_b, l.index_weights,
          l.gate, l.compressor.kv, l.compressor.gate, l.index_compressor.kv, l.index_compressor.gate,
          l.shared_w1, l.shared_w2, l.shared_w3, l.shared_both})
      bytes += bytes_of(m);
    for (const Matrix& m : {l.w1.first, l.w2.first, l.w3.first, l.both.first})
      bytes += config.experts_per_token * bytes_of(m);
  }
  return bytes;
}

}  // namespace dsv4::cuda
