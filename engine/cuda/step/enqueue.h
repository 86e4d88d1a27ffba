// One step, or one part of it, on its way to the stream (step.h).
#pragma once

#include "engine/cuda/step/step.h"
#include "engine/model/components.h"
#include "kernels/boundary.h"
#include "kernels/gemv.h"
#include "kernels/hyper_connection.h"

namespace dsv4::cuda {

class Enqueue {
 public:
  Enqueue(const Step& step, int batch, cudaStream_t stream, Recording* recording)
      : s_(step), c_(step.config), a_(step.a), batch_(batch), stream_(stream), recording_(recording) {}

  void all() {
    piece(0);
    for (int layer = 0; layer < c_.num_layers(); ++layer) {
      attention(layer);
      piece(layer + 1);
    }
  }
  // From the attention of layer `number` - 1 to that of layer `number`; the first begins with the embedding,
  // the last ends with the next token.
  void piece(int number);
  void attention(int layer);

 private:
  void begin();
  void before_attention(const DeviceLayer& w, const LayerState& state);
  void after_attention(const DeviceLayer& w, const LayerState& state);
  void end();

  void project_input(const DeviceLayer& w);
  void project_queries(const DeviceLayer& w, const LayerState& state);
  void choose_entries(const LayerState& state);
  void experts(const DeviceLayer& w, const LayerState& state);

  void project(const kernels::Matrix& w, const float* x, int x_stride, float* y);
  static kernels::GemvTask task(const kernels::Matrix& w, const float* x, int x_stride, float* y);
  kernels::NormRope norm_rope(const float* in, float* out, int heads, int dim) const;
  kernels::Compressor compressor(const DeviceCompressor& w, const CompressorState& state, const float* kv,
                                 const float* gate) const;

  const DeviceLayer& weights(int layer) const { return s_.weights.layers[static_cast<std::size_t>(layer)]; }
  const LayerState& state(int layer) const { return s_.state[static_cast<std::size_t>(layer)]; }
  // Positions are turned by these in a layer.
  const float* frequencies(const DeviceLayer& w) const {
    return w.type == LayerType::kSliding ? s_.weights.plain_frequencies : s_.weights.compress_frequencies;
  }
  const DeviceSite& site_after(int layer) const {
    return layer + 1 < c_.num_layers() ? weights(layer + 1).attn_hc : s_.weights.hc_head;
  }

  bool has_boundary(const DeviceSite& next) const {
    return kernels::has_boundary(next.fn, c_.hc_mult, c_.hidden_size);
  }
  bool is_head(const DeviceSite& site) const { return &site == &s_.weights.hc_head; }
  kernels::Boundary crossing(const DeviceSite& next) const;
  // From the end of a sub-layer that gave `y` to the logits of the next site's mixer.
  template <class Given>
  void cross(const Given& y, const DeviceSite& next) {
    if (has_boundary(next)) return kernels::boundary(stream_, crossing(next), y, batch_);
    const int n = c_.hc_mult, d = c_.hidden_size;
    kernels::hyper_connection_expand(stream_, a_.streams, y, a_.post, a_.comb, n, d, batch_);
    project(next.fn, a_.streams, n * d, a_.mix);
  }
  // From there to the input of the sub-layer.
  void site(const DeviceSite& w, const float* norm);
  kernels::HyperConnectionMix mix(const DeviceSite& w) const;

  void see(const char* name, const void* values, int width) {
    if (recording_ != nullptr) recording_->take(name, layer_, values, width, batch_, stream_);
  }

  const Step& s_;
  const ModelConfig& c_;
  const Activations& a_;
  const int batch_;
  cudaStream_t stream_;
  Recording* const recording_;
  int layer_ = -1;
};

}  // namespace dsv4::cuda
