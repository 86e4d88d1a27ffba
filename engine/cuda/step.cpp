#include "engine/cuda/step.h"

#include <capgate/capgate.h>

#include <cmath>

#include "engine/model/components.h"
#include "kernels/attention.h"
#include "kernels/boundary.h"
#include "kernels/compressor.h"
#include "kernels/embedding.h"
#include "kernels/experts.h"
#include "kernels/gemv.h"
#include "kernels/hyper_connection.h"
#include "kernels/norm_rope.h"
#include "kernels/router.h"

#ifdef DSV4_PLANTED_FAULT
#include "engine/cuda/planted_fault.h"
#endif

namespace dsv4::cuda {
namespace {

using kernels::GemvTasks;
using kernels::Matrix;

// One step on its way to the stream.
class Enqueue {
 public:
  Enqueue(const Step& step, int batch, cudaStream_t stream, Recording* recording)
      : s_(step), c_(step.config), a_(step.a), batch_(batch), stream_(stream), recording_(recording) {}

  void all() {
    const int n = c_.hc_mult, d = c_.hidden_size;
    kernels::embed(stream_, s_.weights.embed, s_.ids, a_.streams, n, batch_);
    see_embedding();
    const std::vector<DeviceLayer>& layers = s_.weights.layers;
    const auto site_after = [&](int layer) -> const DeviceSite& {
      return layer + 1 < c_.num_layers() ? layers[static_cast<std::size_t>(layer) + 1].attn_hc
                                         : s_.weights.hc_head;
    };
    if (has_boundary(site_after(-1)))
      kernels::boundary(stream_, crossing(site_after(-1)), batch_);
    else
      project(site_after(-1).fn, a_.streams, n * d, a_.mix);
    for (layer_ = 0; layer_ < c_.num_layers(); ++layer_) {
      const DeviceLayer& w = layers[static_cast<std::size_t>(layer_)];
      const LayerState& state = s_.state[static_cast<std::size_t>(layer_)];
      site(w.attn_hc, w.attn_norm);
      see(component::kAttnCollapsed, a_.collapsed, d);
      see(component::kAttnNorm, a_.normed, d);
      attention(w, state);
      cross(a_.attn_out, w.ffn_hc);
      see(component::kAttnStreams, a_.streams, n * d);

      site(w.ffn_hc, w.ffn_norm);
      see(component::kFfnCollapsed, a_.collapsed, d);
      see(component::kFfnNorm, a_.normed, d);
      experts(w, state);
      cross(kernels::ExpertSum{a_.expert_parts, a_.shares, a_.routed, a_.ffn_out, c_.experts_per_token},
            site_after(layer_));
      see(component::kRouted, a_.routed, d);
      see(component::kShared, a_.expert_parts, (c_.experts_per_token + 1) * d);
      see(component::kFfnOut, a_.ffn_out, d);
      see(component::kStreams, a_.streams, n * d);
    }
    layer_ = -1;
    site(s_.weights.hc_head, s_.weights.norm);
    see(component::kHeadCollapsed, a_.collapsed, d);
    see(component::kFinalNorm, a_.normed, d);
    project(s_.weights.head, a_.normed, d, a_.logits);
    see(component::kLogits, a_.logits, c_.vocab_size);
    kernels::next_token(stream_,
                        {a_.logits, s_.sampling, c_.vocab_size, s_.prompt, s_.prompt_length,
                         s_.prompt_capacity, s_.max_positions, s_.ids, s_.positions, s_.sampled, s_.ring,
                         s_.ring_step, Step::kRingSlots, s_.rows},
                        batch_);
  }

 private:
  static kernels::GemvTask task(const Matrix& w, const float* x, int x_stride, float* y) {
    kernels::GemvTask t;
    t.w = w;
    t.x = x;
    t.x_stride = x_stride;
    t.y = y;
    t.y_stride = w.rows;
    return t;
  }

  void project(const Matrix& w, const float* x, int x_stride, float* y) {
    GemvTasks tasks;
    tasks.add(task(w, x, x_stride, y));
    kernels::gemv(stream_, tasks, batch_);
  }

  bool has_boundary(const DeviceSite& next) const {
    return kernels::has_boundary(next.fn, c_.hc_mult, c_.hidden_size);
  }
  bool is_head(const DeviceSite& site) const { return &site == &s_.weights.hc_head; }
  kernels::Boundary crossing(const DeviceSite& next) const {
    return {a_.streams,    static_cast<const float*>(next.fn.data),
            a_.mix_parts,  c_.hidden_size,
            is_head(next), a_.post,
            a_.comb};
  }

  // From the end of a sub-layer that gave `y` to the logits of the next site's mixer.
  template <class Given>
  void cross(const Given& y, const DeviceSite& next) {
    if (has_boundary(next)) return kernels::boundary(stream_, crossing(next), y, batch_);
    const int n = c_.hc_mult, d = c_.hidden_size;
    kernels::hyper_connection_expand(stream_, a_.streams, y, a_.post, a_.comb, n, d, batch_);
    project(next.fn, a_.streams, n * d, a_.mix);
  }

  // From there to the input of the sub-layer.
  void site(const DeviceSite& w, const float* norm) {
    kernels::HyperConnectionSite args{};
    args.streams = a_.streams;
    args.logits = a_.mix;
    args.base = w.base;
    args.scale = w.scale;
    args.norm = norm;
    args.inverse = a_.inverse;
    args.collapsed = a_.collapsed;
    args.normed = a_.normed;
    args.n = c_.hc_mult;
    args.d = c_.hidden_size;
    args.head = is_head(w);
    args.hc_eps = static_cast<float>(c_.hc_eps);
    args.rms_eps = static_cast<float>(c_.rms_norm_eps);
    if (has_boundary(w))
      kernels::boundary_site(stream_, args, a_.mix, a_.mix_parts, batch_);
    else
      kernels::hyper_connection_site(stream_, args, batch_);
  }

  kernels::HyperConnectionMix mix(const DeviceSite& w) const {
    return {a_.mix,
            w.base,
            w.scale,
            a_.inverse,
            a_.post,
            a_.comb,
            c_.hc_mult,
            c_.hc_sinkhorn_iters,
            static_cast<float>(c_.hc_eps)};
  }

  kernels::NormRope norm_rope(const float* in, float* out, int heads, int dim) const {
    kernels::NormRope args{};
    args.in = in;
    args.out = out;
    args.heads = heads;
    args.dim = dim;
    args.normalise = true;
    args.pairs = c_.rope_dim / 2;
    args.positions = s_.positions;
    args.eps = static_cast<float>(c_.rms_norm_eps);
    return args;
  }

  kernels::Compressor compressor(const DeviceCompressor& w, const CompressorState& state, const float* kv,
                                 const float* gate) const {
    kernels::Compressor args{};
    args.kv = kv;
    args.gate = gate;
    args.ape = w.ape;
    args.norm = w.norm;
    args.kv_ring = state.kv_ring;
    args.gate_ring = state.gate_ring;
    args.entries = state.entries;
    args.ratio = state.shape.ratio;
    args.ring = state.shape.ring;
    args.width = state.shape.width;
    args.dim = state.shape.dim;
    args.max_entries = state.shape.max_entries;
    args.overlap = state.shape.overlap;
    args.frequencies = s_.weights.compress_frequencies;
    args.pairs = c_.rope_dim / 2;
    args.positions = s_.positions;
    args.eps = static_cast<float>(c_.rms_norm_eps);
    return args;
  }

  void attention(const DeviceLayer& w, const LayerState& state) {
    const bool compressed = w.type != LayerType::kSliding, indexed = w.type == LayerType::kCsa;
    const int d = c_.hidden_size, dim = c_.head_dim;
    const float* frequencies = compressed ? s_.weights.compress_frequencies : s_.weights.plain_frequencies;

    GemvTasks from_x;
    from_x.add(task(w.wq_a, a_.normed, d, a_.q_residual));
    from_x.add(task(w.wkv, a_.normed, d, a_.kv));
    if (compressed) {
      from_x.add(task(w.compressor.kv, a_.normed, d, a_.compressor_kv));
      from_x.add(task(w.compressor.gate, a_.normed, d, a_.compressor_gate));
    }
    if (indexed) {
      from_x.add(task(w.index_compressor.kv, a_.normed, d, a_.index_kv));
      from_x.add(task(w.index_compressor.gate, a_.normed, d, a_.index_gate));
      from_x.add(task(w.index_weights, a_.normed, d, a_.index_weights));
      from_x.task[from_x.count - 1].factor = 1.0f / std::sqrt(static_cast<float>(c_.index_heads));
    }
    kernels::gemv(stream_, from_x, batch_);

    // The queries; beside them what needs the key and the compressors' projections.
    const bool recorded = recording_ != nullptr;
    GemvTasks from_residual;
    const auto add = [&](const Matrix& matrix, float* y) {
      kernels::GemvTask t = task(matrix, a_.q_residual, c_.q_lora_rank, y);
      t.norm = w.q_norm;
      t.normed = a_.q_normed;
      t.eps = static_cast<float>(c_.rms_norm_eps);
      t.keeps_normed = recorded && from_residual.count == 0;
      from_residual.add(t);
    };
    add(w.wq_b, a_.q);
    if (indexed) add(w.index_wq_b, a_.index_query);
    kernels::Beside beside;
    beside.norm_rope = norm_rope(a_.kv, a_.kv, 1, dim);
    beside.norm_rope.weight = w.kv_norm;
    beside.norm_rope.frequencies = frequencies;
    beside.norm_rope.window = state.window;
    beside.norm_rope.window_slots = c_.sliding_window;
    beside.has_norm_rope = true;
    if (compressed)
      beside.compressor[beside.compressors++] =
          compressor(w.compressor, state.compressor, a_.compressor_kv, a_.compressor_gate);
    if (indexed)
      beside.compressor[beside.compressors++] =
          compressor(w.index_compressor, state.index_compressor, a_.index_kv, a_.index_gate);
    kernels::gemv(stream_, from_residual, batch_, beside);
    see(component::kQResidual, a_.q_normed, c_.q_lora_rank);
    see(component::kKv, a_.kv, dim);
    if (compressed)
      see(component::kEntry, state.compressor.entries,
          static_cast<int>(state.compressor.shape.entries_size()));
    if (indexed) choose_entries(state);

    kernels::Attention args{};
    args.q = a_.q;
    args.prepares_q = kernels::attention_prepares(dim);
    args.prepared_q = recorded ? a_.q_prepared : nullptr;
    args.eps = static_cast<float>(c_.rms_norm_eps);
    if (!args.prepares_q) {
      kernels::NormRope query = norm_rope(a_.q, a_.q_prepared, c_.num_heads, dim);
      query.frequencies = frequencies;
      kernels::norm_rope(stream_, query, batch_);
      args.q = a_.q_prepared;
    }
    args.sink = w.sink;
    args.window = state.window;
    args.window_slots = c_.sliding_window;
    args.entries = state.compressor.entries;
    args.max_entries = state.compressor.shape.max_entries;
    args.ratio = state.compressor.shape.ratio;
    args.chosen = indexed ? a_.chosen_entries : nullptr;
    args.width = c_.index_topk;
    args.out = a_.context;
    args.heads = c_.num_heads;
    args.dim = dim;
    args.frequencies = frequencies;
    args.pairs = c_.rope_dim / 2;
    args.positions = s_.positions;
    kernels::attend(stream_, args, batch_, mix(w.attn_hc));
    see(component::kQ, a_.q_prepared, c_.num_heads * dim);
    see(component::kAttnPost, a_.post, c_.hc_mult);
    see(component::kAttnComb, a_.comb, c_.hc_mult * c_.hc_mult);
    see(component::kContext, a_.context, c_.num_heads * dim);

    GemvTasks grouped;
    grouped.add(task(w.wo_a, a_.context, c_.num_heads * dim, a_.output_a));
    grouped.task[0].rows_per_group = c_.o_lora_rank;
    kernels::gemv(stream_, grouped, batch_);
    see(component::kOutputA, a_.output_a, c_.o_groups * c_.o_lora_rank);
    project(w.wo_b, a_.output_a, c_.o_groups * c_.o_lora_rank, a_.attn_out);
    see(component::kAttnOut, a_.attn_out, d);
  }

  void choose_entries(const LayerState& state) {
    const CompressorState& keys = state.index_compressor;
    see(component::kIndexKey, keys.entries, static_cast<int>(keys.shape.entries_size()));
    see(component::kIndexWeights, a_.index_weights, c_.index_heads);
    kernels::index_scores(
        stream_,
        {a_.index_query, a_.index_weights, keys.entries, a_.index_scores, c_.index_heads, c_.index_head_dim,
         keys.shape.max_entries, keys.shape.ratio, s_.positions, s_.weights.compress_frequencies,
         c_.rope_dim / 2, recording_ != nullptr ? a_.index_rotated : nullptr},
        batch_);
    see(component::kIndexQuery, a_.index_rotated, c_.index_heads * c_.index_head_dim);
    see(component::kIndexScores, a_.index_scores, keys.shape.max_entries);
    kernels::choose_entries(stream_, a_.index_scores, keys.shape.max_entries, keys.shape.ratio, s_.positions,
                            c_.index_topk, a_.chosen_entries, state.forced_entries, batch_);
    see(kChosenEntries, a_.chosen_entries, c_.index_topk);
  }

  // To the experts' parts.
  void experts(const DeviceLayer& w, const LayerState& state) {
    const int d = c_.hidden_size, k = c_.experts_per_token;
    const kernels::GemvTask gate = task(w.gate, a_.normed, d, a_.router_logits);
    kernels::ExpertsUp up{w.w1,
                          w.w3,
                          a_.normed,
                          a_.chosen_experts,
                          a_.expert_inner,
                          k,
                          k + 1,
                          static_cast<float>(c_.swiglu_limit),
                          w.shared_w1,
                          w.shared_w3,
                          w.both,
                          w.shared_both};
    if (w.gate.layout == kernels::Layout::kTiles && w.shared_both.data != nullptr) {
      // The shared expert's bytes come while the router's are summed up.
      kernels::StreamTasks early;
      early.add(kernels::stream_task(gate));
      early.add(kernels::shared_up_task(up));
      kernels::stream_weights(stream_, early, batch_);
      up.shared_both = {};
    } else {
      project(w.gate, a_.normed, d, a_.router_logits);
    }
    kernels::Router router{};
    router.logits = a_.router_logits;
    router.bias = w.gate_bias;
    router.table = w.table;
    router.ids = s_.ids;
    router.scores = a_.router_scores;
    router.biased = a_.router_biased;
    router.chosen = a_.chosen_experts;
    router.shares = a_.shares;
    router.experts = c_.num_experts;
    router.k = k;
    router.scaling = static_cast<float>(c_.routed_scaling);
    router.forced = state.forced_experts;
    kernels::route(stream_, router, batch_);
#ifdef DSV4_PLANTED_FAULT
    if (layer_ == 0) planted::DSV4_PLANTED_FAULT(s_, batch_, stream_);
#endif
    see(component::kRouterScores, a_.router_scores, c_.num_experts);
    if (w.table == nullptr) see(kBiasedScores, a_.router_biased, c_.num_experts);
    see(kChosenExperts, a_.chosen_experts, k);
    see(kShares, a_.shares, k);

    kernels::experts_up(stream_, up, batch_, mix(w.ffn_hc));
    see(component::kFfnPost, a_.post, c_.hc_mult);
    see(component::kFfnComb, a_.comb, c_.hc_mult * c_.hc_mult);
    kernels::experts_down(
        stream_, {w.w2, a_.expert_inner, a_.chosen_experts, a_.expert_parts, k, k + 1, k + 1, w.shared_w2},
        batch_);
  }

  void see(const char* name, const void* values, int width) {
    if (recording_ != nullptr) recording_->take(name, layer_, values, width, batch_, stream_);
  }
  void see_embedding() {
    layer_ = -1;
    see(component::kEmbed, a_.streams, c_.hc_mult * c_.hidden_size);
  }

  const Step& s_;
  const ModelConfig& c_;
  const Activations& a_;
  const int batch_;
  cudaStream_t stream_;
  Recording* const recording_;
  int layer_ = -1;
};

}  // namespace

CAPGATE_REGION cudaError_t enqueue_step(const Step& step, int batch, cudaStream_t stream,
                                        Recording* recording) {
  Enqueue(step, batch, stream, recording).all();
  return cudaPeekAtLastError();
}

}  // namespace dsv4::cuda
