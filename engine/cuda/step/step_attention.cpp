// What a layer does up to its attention, and the attention.
#include <cmath>

#include "engine/cuda/step/enqueue.h"
#include "kernels/attention.h"
#include "kernels/compressor.h"
#include "kernels/norm_rope.h"
#include "kernels/profile.h"

namespace dsv4::cuda {

using kernels::GemvTasks;
using kernels::Matrix;

// Everything that reads the layer's input.
void Enqueue::project_input(const DeviceLayer& w) {
  const int d = c_.hidden_size;
  GemvTasks from_x;
  from_x.room = s_.room();
  from_x.add(task(w.wq_a, a_.normed, d, a_.q_residual));
  from_x.add(task(w.wkv, a_.normed, d, a_.kv));
  if (w.type != LayerType::kSliding) {
    from_x.add(task(w.compressor.kv, a_.normed, d, a_.compressor_kv));
    from_x.add(task(w.compressor.gate, a_.normed, d, a_.compressor_gate));
  }
  if (w.type == LayerType::kCsa) {
    from_x.add(task(w.index_compressor.kv, a_.normed, d, a_.index_kv));
    from_x.add(task(w.index_compressor.gate, a_.normed, d, a_.index_gate));
    from_x.add(task(w.index_weights, a_.normed, d, a_.index_weights));
    from_x.task[from_x.count - 1].factor = 1.0f / std::sqrt(static_cast<float>(c_.index_heads));
  }
  kernels::name_launches(w.type == LayerType::kCsa   ? "from x, CSA"
                         : w.type == LayerType::kHca ? "from x, HCA"
                                                     : "from x, sliding");
  kernels::gemv(stream_, from_x, batch_);
}

// The queries; beside them what needs the key and the compressors' projections.
void Enqueue::project_queries(const DeviceLayer& w, const LayerState& state) {
  const bool compressed = w.type != LayerType::kSliding, indexed = w.type == LayerType::kCsa;
  GemvTasks from_residual;
  from_residual.room = s_.room();
  const auto add = [&](const Matrix& matrix, float* y) {
    kernels::GemvTask t = task(matrix, a_.q_residual, c_.q_lora_rank, y);
    t.norm = w.q_norm;
    t.normed = a_.q_normed;
    t.eps = static_cast<float>(c_.rms_norm_eps);
    t.keeps_normed = recording_ != nullptr && from_residual.count == 0;
    from_residual.add(t);
  };
  add(w.wq_b, a_.q);
  if (indexed) add(w.index_wq_b, a_.index_query);
  kernels::Beside beside;
  beside.norm_rope = norm_rope(a_.kv, a_.kv, 1, c_.head_dim);
  beside.norm_rope.weight = w.kv_norm;
  beside.norm_rope.frequencies = frequencies(w);
  beside.norm_rope.window = state.window;
  beside.norm_rope.window_slots = s_.window_slots();
  beside.norm_rope.rows = s_.lane.rows;
  beside.has_norm_rope = true;
  if (compressed)
    beside.compressor[beside.compressors++] =
        compressor(w.compressor, state.compressor, a_.compressor_kv, a_.compressor_gate);
  if (indexed)
    beside.compressor[beside.compressors++] =
        compressor(w.index_compressor, state.index_compressor, a_.index_kv, a_.index_gate);
  kernels::name_launches("queries");
  kernels::gemv(stream_, from_residual, batch_, beside);
  see(component::kQResidual, a_.q_normed, c_.q_lora_rank);
  see(component::kKv, a_.kv, c_.head_dim);
  if (compressed)
    see(component::kEntry, state.compressor.entries, static_cast<int>(state.compressor.shape.entries_size()));
}

void Enqueue::attention(int layer) {
  layer_ = layer;
  const DeviceLayer& w = weights(layer);
  const LayerState& state = this->state(layer);
  const int dim = c_.head_dim;
  if (w.type == LayerType::kCsa) choose_entries(state);
  kernels::name_launches("attention");
  kernels::Attention args{};
  args.q = a_.q;
  args.prepares_q = kernels::attention_prepares(dim);
  args.prepared_q = recording_ != nullptr ? a_.q_prepared : nullptr;
  args.eps = static_cast<float>(c_.rms_norm_eps);
  if (!args.prepares_q) {
    kernels::NormRope query = norm_rope(a_.q, a_.q_prepared, c_.num_heads, dim);
    query.frequencies = frequencies(w);
    kernels::norm_rope(stream_, query, batch_);
    args.q = a_.q_prepared;
  }
  args.sink = w.sink;
  args.window = state.window;
  args.window_slots = s_.window_slots();
  args.window_tokens = c_.sliding_window;
  args.entries = state.compressor.entries;
  args.pages = state.compressor.pages;
  args.max_entries = state.compressor.shape.max_entries;
  args.ratio = state.compressor.shape.ratio;
  args.chosen = w.type == LayerType::kCsa ? a_.chosen_entries : nullptr;
  args.width = c_.index_topk;
  args.out = a_.context;
  args.heads = c_.num_heads;
  args.dim = dim;
  args.frequencies = frequencies(w);
  args.pairs = c_.rope_dim / 2;
  args.positions = s_.lane.positions;
  args.rows = s_.lane.rows;
  kernels::attend(stream_, args, batch_, mix(w.attn_hc));
  see(component::kQ, a_.q_prepared, c_.num_heads * dim);
  see(component::kAttnPost, a_.post, c_.hc_mult);
  see(component::kAttnComb, a_.comb, c_.hc_mult * c_.hc_mult);
  see(component::kContext, a_.context, c_.num_heads * dim);
}

void Enqueue::choose_entries(const LayerState& state) {
  const CompressorState& keys = state.index_compressor;
  see(component::kIndexKey, keys.entries, static_cast<int>(keys.shape.entries_size()));
  see(component::kIndexWeights, a_.index_weights, c_.index_heads);
  kernels::IndexScores scores{};
  scores.query = a_.index_query;
  scores.weights = a_.index_weights;
  scores.keys = keys.entries;
  scores.scores = a_.index_scores;
  scores.heads = c_.index_heads;
  scores.dim = c_.index_head_dim;
  scores.max_entries = keys.shape.max_entries;
  scores.ratio = keys.shape.ratio;
  scores.positions = s_.lane.positions;
  scores.frequencies = s_.weights.compress_frequencies;
  scores.pairs = c_.rope_dim / 2;
  scores.rotated = recording_ != nullptr ? a_.index_rotated : nullptr;
  scores.unscored = recording_ != nullptr ? 0 : c_.index_topk;
  scores.pages = keys.pages;
  scores.rows = s_.lane.rows;
  kernels::name_launches("index scores");
  kernels::index_scores(stream_, scores, batch_);
  see(component::kIndexQuery, a_.index_rotated, c_.index_heads * c_.index_head_dim);
  see(component::kIndexScores, a_.index_scores, keys.shape.max_entries);
  kernels::name_launches("choice of entries");
  kernels::choose_entries(stream_, a_.index_scores, keys.shape.max_entries, keys.shape.ratio,
                          s_.lane.positions, c_.index_topk, a_.chosen_entries, state.forced_entries, batch_);
  see(kChosenEntries, a_.chosen_entries, c_.index_topk);
}

kernels::NormRope Enqueue::norm_rope(const float* in, float* out, int heads, int dim) const {
  kernels::NormRope args{};
  args.in = in;
  args.out = out;
  args.heads = heads;
  args.dim = dim;
  args.normalise = true;
  args.pairs = c_.rope_dim / 2;
  args.positions = s_.lane.positions;
  args.eps = static_cast<float>(c_.rms_norm_eps);
  return args;
}

kernels::Compressor Enqueue::compressor(const DeviceCompressor& w, const CompressorState& state,
                                        const float* kv, const float* gate) const {
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
  args.slots = state.shape.ring + s_.chunk - 1;
  args.width = state.shape.width;
  args.dim = state.shape.dim;
  args.max_entries = state.shape.max_entries;
  args.overlap = state.shape.overlap;
  args.frequencies = s_.weights.compress_frequencies;
  args.pairs = c_.rope_dim / 2;
  args.positions = s_.lane.positions;
  args.eps = static_cast<float>(c_.rms_norm_eps);
  args.pages = state.pages;
  args.rows = s_.lane.rows;
  args.lanes = s_.chunk > 1 ? batch_ : 0;
  return args;
}

}  // namespace dsv4::cuda
