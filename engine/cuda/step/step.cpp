#include "engine/cuda/step/step.h"

#include <capgate/capgate.h>

#include "engine/cuda/step/enqueue.h"
#include "kernels/embedding.h"
#include "kernels/experts.h"
#include "kernels/profile.h"
#include "kernels/router.h"

#ifdef DSV4_PLANTED_FAULT
#include "engine/cuda/step/planted_fault.h"
#endif

namespace dsv4::cuda {

using kernels::GemvTasks;
using kernels::Matrix;

void Enqueue::piece(int number) {
  if (number == 0) begin();
  layer_ = number - 1;
  if (number > 0) after_attention(weights(layer_), state(layer_));
  layer_ = number;
  if (number < c_.num_layers()) return before_attention(weights(layer_), state(layer_));
  layer_ = -1;
  end();
}

void Enqueue::begin() {
  const int n = c_.hc_mult, d = c_.hidden_size;
  kernels::name_launches("embed");
  kernels::embed(stream_, s_.weights.embed, s_.lane.ids, a_.streams, n, batch_);
  see(component::kEmbed, a_.streams, n * d);
  kernels::name_launches("boundary");
  if (has_boundary(site_after(-1)))
    kernels::boundary(stream_, crossing(site_after(-1)), batch_);
  else
    project(site_after(-1).fn, a_.streams, n * d, a_.mix);
}

void Enqueue::before_attention(const DeviceLayer& w, const LayerState& state) {
  site(w.attn_hc, w.attn_norm);
  see(component::kAttnCollapsed, a_.collapsed, c_.hidden_size);
  see(component::kAttnNorm, a_.normed, c_.hidden_size);
  project_input(w);
  project_queries(w, state);
}

void Enqueue::after_attention(const DeviceLayer& w, const LayerState& state) {
  const int n = c_.hc_mult, d = c_.hidden_size, context = c_.num_heads * c_.head_dim;
  kernels::name_launches("wo_a");
  GemvTasks grouped;
  grouped.room = s_.room();
  grouped.add(task(w.wo_a, a_.context, context, a_.output_a));
  grouped.task[0].rows_per_group = c_.o_lora_rank;
  kernels::gemv(stream_, grouped, batch_);
  see(component::kOutputA, a_.output_a, c_.o_groups * c_.o_lora_rank);
  kernels::name_launches("wo_b");
  project(w.wo_b, a_.output_a, c_.o_groups * c_.o_lora_rank, a_.attn_out);
  see(component::kAttnOut, a_.attn_out, d);
  kernels::name_launches("boundary");
  cross(a_.attn_out, w.ffn_hc);
  see(component::kAttnStreams, a_.streams, n * d);

  site(w.ffn_hc, w.ffn_norm);
  see(component::kFfnCollapsed, a_.collapsed, d);
  see(component::kFfnNorm, a_.normed, d);
  experts(w, state);
  kernels::name_launches("boundary");
  cross(kernels::ExpertSum{a_.expert_parts, a_.shares, a_.routed, a_.ffn_out, c_.experts_per_token},
        site_after(layer_));
  see(component::kRouted, a_.routed, d);
  see(component::kShared, a_.expert_parts, (c_.experts_per_token + 1) * d);
  see(component::kFfnOut, a_.ffn_out, d);
  see(component::kStreams, a_.streams, n * d);
}

void Enqueue::end() {
  const int d = c_.hidden_size;
  site(s_.weights.hc_head, s_.weights.norm);
  see(component::kHeadCollapsed, a_.collapsed, d);
  see(component::kFinalNorm, a_.normed, d);
  kernels::name_launches("head");
  project(s_.weights.head, a_.normed, d, a_.logits);
  see(component::kLogits, a_.logits, c_.vocab_size);
  kernels::name_launches("next token");
  kernels::next_token(stream_,
                      {a_.logits, s_.lane.sampling, c_.vocab_size, s_.max_positions, s_.lane.ids,
                       s_.lane.positions, s_.sampled, s_.ring, s_.ring_step, Step::kRingSlots, s_.lanes},
                      batch_);
}

kernels::GemvTask Enqueue::task(const Matrix& w, const float* x, int x_stride, float* y) {
  kernels::GemvTask t;
  t.w = w;
  t.x = x;
  t.x_stride = x_stride;
  t.y = y;
  t.y_stride = w.rows;
  return t;
}

void Enqueue::project(const Matrix& w, const float* x, int x_stride, float* y) {
  GemvTasks tasks;
  tasks.room = s_.room();
  tasks.add(task(w, x, x_stride, y));
  kernels::gemv(stream_, tasks, batch_);
}

kernels::Boundary Enqueue::crossing(const DeviceSite& next) const {
  return {a_.streams,    static_cast<const float*>(next.fn.data),
          a_.mix_parts,  c_.hidden_size,
          is_head(next), a_.post,
          a_.comb};
}

void Enqueue::site(const DeviceSite& w, const float* norm) {
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
  kernels::name_launches("site");
  if (has_boundary(w))
    kernels::boundary_site(stream_, args, a_.mix, a_.mix_parts, batch_);
  else
    kernels::hyper_connection_site(stream_, args, batch_);
}

kernels::HyperConnectionMix Enqueue::mix(const DeviceSite& w) const {
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

// To the experts' parts.
void Enqueue::experts(const DeviceLayer& w, const LayerState& state) {
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
  kernels::name_launches("router, shared up");
  if (w.gate.layout == kernels::Layout::kTiles && w.shared_both.data != nullptr) {
    // The shared expert's bytes come while the router's are summed up.
    kernels::StreamTasks early;
    early.room = s_.room();
    early.add(kernels::stream_task(gate));
    early.add(kernels::shared_up_task(up));
    kernels::stream_weights(stream_, early, batch_);
    up.shared_both = {};
  } else {
    project(w.gate, a_.normed, d, a_.router_logits);
  }
  kernels::name_launches("route");
  kernels::Router router{};
  router.logits = a_.router_logits;
  router.bias = w.gate_bias;
  router.table = w.table;
  router.ids = s_.lane.ids;
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

  kernels::name_launches("experts up");
  kernels::experts_up(stream_, up, batch_, mix(w.ffn_hc));
  see(component::kFfnPost, a_.post, c_.hc_mult);
  see(component::kFfnComb, a_.comb, c_.hc_mult * c_.hc_mult);
  kernels::name_launches("experts down");
  kernels::experts_down(
      stream_,
      {w.w2, a_.expert_inner, a_.chosen_experts, a_.expert_parts, k, k + 1, k + 1, w.shared_w2, s_.room()},
      batch_);
}

CAPGATE_REGION cudaError_t enqueue_step(const Step& step, int batch, cudaStream_t stream,
                                        Recording* recording) {
  Enqueue(step, batch, stream, recording).all();
  return cudaPeekAtLastError();
}

CAPGATE_REGION cudaError_t enqueue_piece(const Step& step, int batch, int number, cudaStream_t stream) {
  Enqueue(step, batch, stream, nullptr).piece(number);
  return cudaPeekAtLastError();
}

CAPGATE_REGION cudaError_t enqueue_attention(const Step& step, int batch, int layer, cudaStream_t stream) {
  Enqueue(step, batch, stream, nullptr).attention(layer);
  return cudaPeekAtLastError();
}

}  // namespace dsv4::cuda
