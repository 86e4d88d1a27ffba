#include "engine/reference/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "engine/model/choose.h"
#include "engine/model/components.h"
#include "engine/model/decode_state.h"
#include "engine/reference/attention.h"
#include "engine/reference/compressor.h"
#include "engine/reference/hyper_connection.h"
#include "engine/reference/indexer.h"
#include "engine/reference/moe.h"
#include "engine/reference/norm.h"
#include "engine/reference/planted_bug.h"
#include "engine/reference/rope.h"

namespace dsv4::reference {
namespace {

template <class T>
HyperConnection<T> make_site(const HyperConnectionWeights& w) {
  return {w.fn, w.base.decode_all<T>(), w.scale.decode_all<T>()};
}

template <class T>
Compressor<T> make_compressor(const CompressorWeights& w, const CompressorShape& shape) {
  return {shape, w.kv, w.gate, w.ape.decode_all<T>(), w.norm.decode_all<T>()};
}

// The buffers of one compressor for all rows.
template <class T>
struct CompressorState {
  CompressorShape shape{};
  std::vector<T> kv, gate, entries;

  CompressorState() = default;
  CompressorState(const CompressorShape& s, int rows)
      : shape(s), kv(rows * s.ring_size()), gate(rows * s.ring_size()), entries(rows * s.entries_size()) {}

  CompressorRow<T> row(int r) {
    const auto part = [r](std::vector<T>& all, std::int64_t size) {
      return std::span<T>(all).subspan(static_cast<std::size_t>(r * size), static_cast<std::size_t>(size));
    };
    return {part(kv, shape.ring_size()), part(gate, shape.ring_size()), part(entries, shape.entries_size())};
  }
};

template <class T>
struct LayerParts {
  LayerType type;
  bool hash;
  const LayerWeights* w;
  std::vector<T> attn_norm, ffn_norm, q_norm, kv_norm, sink, gate_bias;
  HyperConnection<T> attn_hc, ffn_hc;
  Compressor<T> compressor, index_compressor;
  // State.
  std::vector<T> window;  // [rows, sliding_window, head_dim]
  CompressorState<T> entries, index_entries;
};

template <class T>
std::span<const T> view(const std::vector<T>& v) {
  return std::span<const T>(v);
}

}  // namespace

template <class T>
struct Model<T>::Parts {
  ModelConfig config;
  ModelWeights weights;
  int rows;
  std::vector<LayerParts<T>> layers;
  std::vector<T> final_norm;
  HyperConnection<T> head;
  std::vector<T> plain_rope, compress_rope;

  Parts(const ModelConfig& c, const ModelWeights& w, int row_count, int max_positions)
      : config(c),
        weights(w),
        rows(row_count),
        final_norm(w.norm.decode_all<T>()),
        head(make_site<T>(w.hc_head)) {
    const auto table = [&](LayerType type) {
      const auto exact = rope_frequencies(c, type);
      return std::vector<T>(exact.begin(), exact.end());
    };
    plain_rope = table(LayerType::kSliding);
    compress_rope = table(LayerType::kHca);
    for (int i = 0; i < c.num_layers(); ++i) {
      const LayerWeights& lw = weights.layers[i];
      LayerParts<T> layer;
      layer.type = c.layer_types[i];
      layer.hash = c.hash_layers[i];
      layer.w = &lw;
      layer.attn_norm = lw.attn_norm.decode_all<T>();
      layer.ffn_norm = lw.ffn_norm.decode_all<T>();
      layer.q_norm = lw.q_norm.decode_all<T>();
      layer.kv_norm = lw.kv_norm.decode_all<T>();
      layer.sink = lw.attn_sink.decode_all<T>();
      if (!layer.hash) layer.gate_bias = lw.gate_bias.decode_all<T>();
      layer.attn_hc = make_site<T>(lw.attn_hc);
      layer.ffn_hc = make_site<T>(lw.ffn_hc);
      layer.window.resize(static_cast<std::size_t>(rows) * c.sliding_window * c.head_dim);
      if (layer.type != LayerType::kSliding) {
        const auto shape = compressor_shape(c, layer.type, c.head_dim, max_positions);
        layer.compressor = make_compressor<T>(lw.compressor, shape);
        layer.entries = CompressorState<T>(shape, rows);
      }
      if (layer.type == LayerType::kCsa) {
        const auto shape = compressor_shape(c, layer.type, c.index_head_dim, max_positions);
        layer.index_compressor = make_compressor<T>(lw.indexer.compressor, shape);
        layer.index_entries = CompressorState<T>(shape, rows);
      }
      layers.push_back(std::move(layer));
    }
  }

  // One row's way through the model at one position.
  class RowStep {
   public:
    RowStep(Parts& parts, int row, std::int32_t id, int position, const Probe<T>* probe)
        : parts_(parts),
          c_(parts.config),
          row_(row),
          id_(id),
          position_(position),
          probe_(probe),
          rms_eps_(static_cast<T>(c_.rms_norm_eps)),
          hc_eps_(static_cast<T>(c_.hc_eps)) {}

    void run(std::span<T> logits) {
      std::vector<T> embed(static_cast<std::size_t>(c_.hidden_size));
      parts_.weights.embed.decode_row(id_, embed.data());
      see("", component::kEmbed, embed);
      std::vector<T> streams;
      for (int n = 0; n < c_.hc_mult; ++n) streams.insert(streams.end(), embed.begin(), embed.end());
      for (int i = 0; i < c_.num_layers(); ++i) layer(i, streams);

      const auto pre = head_mix(parts_.head, view(streams), c_.hc_mult, hc_eps_, rms_eps_);
      std::vector<T> hidden = collapse(view(streams), view(pre));
      see("", component::kHeadCollapsed, hidden);
      rms_norm(std::span<T>(hidden), view(parts_.final_norm), rms_eps_);
      see("", component::kFinalNorm, hidden);
      const std::vector<T> out = project(parts_.weights.head, hidden);
      see("", component::kLogits, out);
      std::copy(out.begin(), out.end(), logits.begin());
    }

   private:
    void layer(int index, std::vector<T>& streams) {
      LayerParts<T>& layer = parts_.layers[index];
      prefix_ = fmt::format("layers.{}.", index);
      index_ = index;
      {
        const auto mix =
            site_mix(layer.attn_hc, view(streams), c_.hc_mult, c_.hc_sinkhorn_iters, hc_eps_, rms_eps_);
        std::vector<T> x = collapse(view(streams), view(mix.pre));
        see(prefix_, component::kAttnPost, mix.post);
        see(prefix_, component::kAttnComb, mix.comb);
        see(prefix_, component::kAttnCollapsed, x);
        rms_norm(std::span<T>(x), view(layer.attn_norm), rms_eps_);
        see(prefix_, component::kAttnNorm, x);
        const std::vector<T> y = attention(layer, x);
        expand(std::span<T>(streams), view(y), mix);
        see(prefix_, component::kAttnStreams, streams);
      }
      const auto mix =
          site_mix(layer.ffn_hc, view(streams), c_.hc_mult, c_.hc_sinkhorn_iters, hc_eps_, rms_eps_);
      std::vector<T> x = collapse(view(streams), view(mix.pre));
      see(prefix_, component::kFfnPost, mix.post);
      see(prefix_, component::kFfnComb, mix.comb);
      see(prefix_, component::kFfnCollapsed, x);
      rms_norm(std::span<T>(x), view(layer.ffn_norm), rms_eps_);
      see(prefix_, component::kFfnNorm, x);
      const std::vector<T> y = experts(layer, x);
      expand(std::span<T>(streams), view(y), mix);
      see(prefix_, component::kStreams, streams);
    }

    std::vector<T> attention(LayerParts<T>& layer, const std::vector<T>& x) {
      const LayerWeights& w = *layer.w;
      const auto rope = view(layer.type == LayerType::kSliding ? parts_.plain_rope : parts_.compress_rope);
      const auto dim = static_cast<std::size_t>(c_.head_dim);

      std::vector<T> residual = project(w.wq_a, x);
      rms_norm(std::span<T>(residual), view(layer.q_norm), rms_eps_);
      see(prefix_, component::kQResidual, residual);
      std::vector<T> q = project(w.wq_b, residual);
      for (int h = 0; h < c_.num_heads; ++h) {
        const auto head = std::span<T>(q).subspan(h * dim, dim);
        rms_norm(head, rms_eps_);
        rotate(head, position_, rope);
      }
      see(prefix_, component::kQ, q);
      std::vector<T> kv = project(w.wkv, x);
      rms_norm(std::span<T>(kv), view(layer.kv_norm), rms_eps_);
      rotate(std::span<T>(kv), position_,
             planted(Bug::kPlainTableForWindowKeys) ? view(parts_.plain_rope) : rope);
      see(prefix_, component::kKv, kv);

      const auto window =
          std::span<T>(layer.window)
              .subspan(static_cast<std::size_t>(row_) * c_.sliding_window * dim, c_.sliding_window * dim);
      std::copy(kv.begin(), kv.end(),
                window.begin() + static_cast<std::ptrdiff_t>(position_ % c_.sliding_window * dim));

      std::vector<std::span<const T>> keys;
      for (int slot = 0; slot < std::min(position_ + 1, c_.sliding_window); ++slot)
        keys.push_back(window.subspan(slot * dim, dim));
      if (layer.type != LayerType::kSliding) {
        const CompressorRow<T> entries = layer.entries.row(row_);
        const int w_closed = compress(layer.compressor, entries, view(x), position_, rope, rms_eps_);
        if (w_closed >= 0) see(prefix_, component::kEntry, entries.entry(w_closed, c_.head_dim));
        const int closed =
            closed_entries(position_ - planted(Bug::kEntryOneStepLate), layer.compressor.shape.ratio);
        if (layer.type == LayerType::kCsa) {
          for (const int e : select_entries(layer, x, residual, closed, rope))
            keys.push_back(entries.entry(e, c_.head_dim));
        } else {
          for (int e = 0; e < closed; ++e) keys.push_back(entries.entry(e, c_.head_dim));
        }
      }

      std::vector<T> context;
      for (int h = 0; h < c_.num_heads; ++h) {
        std::vector<T> head = attend(view(q).subspan(h * dim, dim), keys, layer.sink[h]);
        if (!planted(Bug::kNoInverseRope)) rotate(std::span<T>(head), position_, rope, Rotation::kBackward);
        context.insert(context.end(), head.begin(), head.end());
      }
      see(prefix_, component::kContext, context);

      // Grouped output projection: group g's heads through its own rows of wo_a, then all through wo_b.
      std::vector<T> low;
      const std::size_t group_size = context.size() / c_.o_groups;
      for (int g = 0; g < c_.o_groups; ++g) {
        const auto part = project_rows(w.wo_a, view(context).subspan(g * group_size, group_size),
                                       g * c_.o_lora_rank, c_.o_lora_rank);
        low.insert(low.end(), part.begin(), part.end());
      }
      see(prefix_, component::kOutputA, low);
      std::vector<T> out = project(w.wo_b, low);
      see(prefix_, component::kAttnOut, out);
      return out;
    }

    // The compressed entries that this query attends to in a CSA layer.
    std::vector<int> select_entries(LayerParts<T>& layer, const std::vector<T>& x,
                                    const std::vector<T>& residual, int closed, std::span<const T> rope) {
      const int dim = c_.index_head_dim;
      const CompressorRow<T> keys = layer.index_entries.row(row_);
      const int w_closed = compress(layer.index_compressor, keys, view(x), position_, rope, rms_eps_);
      if (w_closed >= 0) see(prefix_, component::kIndexKey, keys.entry(w_closed, dim));
      std::vector<T> query = project(layer.w->indexer.wq_b, residual);
      for (int h = 0; h < c_.index_heads; ++h)
        rotate(std::span<T>(query).subspan(static_cast<std::size_t>(h) * dim, dim), position_, rope);
      see(prefix_, component::kIndexQuery, query);
      std::vector<T> weights = project(layer.w->indexer.weights_proj, x);
      for (T& weight : weights) weight /= std::sqrt(static_cast<T>(c_.index_heads));
      see(prefix_, component::kIndexWeights, weights);
      const std::vector<T> scores = index_scores(view(query), view(weights), keys, dim, closed);
      if (closed > 0) see(prefix_, component::kIndexScores, scores);
      std::vector<int> chosen = top_k(view(scores), c_.index_topk);
      if (closed > 0) offer(ChoiceSite::kIndex, scores, chosen);
      return chosen;
    }

    std::vector<T> experts(LayerParts<T>& layer, const std::vector<T>& x) {
      const std::vector<T> scores = router_scores(layer.w->gate, view(x));
      see(prefix_, component::kRouterScores, scores);
      std::vector<int> chosen;
      std::vector<T> weighing = scores;
      if (layer.hash) {
        for (int slot = 0; slot < c_.experts_per_token; ++slot)
          chosen.push_back(layer.w->tid2eid.expert(id_, slot));
      } else {
        std::vector<T> biased = scores;  // the bias steers the choice alone
        for (std::size_t e = 0; e < biased.size(); ++e) biased[e] += layer.gate_bias[e];
        chosen = top_k(view(biased), c_.experts_per_token);
        offer(ChoiceSite::kExperts, biased, chosen);
        if (planted(Bug::kBiasInExpertWeights)) weighing = biased;
      }
      const auto shares =
          expert_shares(view(weighing), std::span<const int>(chosen), static_cast<T>(c_.routed_scaling));
      const T limit = static_cast<T>(c_.swiglu_limit);
      std::vector<T> by_expert(scores.size()), routed(x.size());
      for (std::size_t i = 0; i < chosen.size(); ++i) {
        const auto y = feed_forward(layer.w->experts[chosen[i]], view(x), limit);
        for (std::size_t d = 0; d < routed.size(); ++d) routed[d] += shares[i] * y[d];
        by_expert[chosen[i]] += shares[i];
      }
      see(prefix_, component::kExpertWeights, by_expert);
      see(prefix_, component::kRouted, routed);
      const T unlimited = std::numeric_limits<T>::infinity();
      std::vector<T> out =
          feed_forward(layer.w->shared, view(x), planted(Bug::kNoClampInSharedExpert) ? unlimited : limit);
      see(prefix_, component::kShared, out);
      for (std::size_t d = 0; d < out.size(); ++d) out[d] += routed[d];
      see(prefix_, component::kFfnOut, out);
      return out;
    }

    void see(std::string_view prefix, std::string_view name, std::span<const T> values) const {
      if (probe_ && probe_->activation) probe_->activation(fmt::format("{}{}", prefix, name), row_, values);
    }

    void offer(ChoiceSite::Kind kind, const std::vector<T>& scores, std::vector<int>& chosen) const {
      if (probe_ && probe_->choice) probe_->choice({kind, index_, row_, position_}, view(scores), chosen);
    }

    Parts& parts_;
    const ModelConfig& c_;
    const int row_;
    const std::int32_t id_;
    const int position_;
    const Probe<T>* probe_;
    const T rms_eps_, hc_eps_;
    int index_ = 0;
    std::string prefix_;
  };
};

template <class T>
Model<T>::Model(const ModelConfig& config, const ModelWeights& weights, int rows, int max_positions)
    : parts_(std::make_unique<Parts>(config, weights, rows, max_positions)) {}

template <class T>
Model<T>::~Model() = default;

template <class T>
Model<T>::Model(Model&&) noexcept = default;

template <class T>
void Model<T>::step(std::span<const std::int32_t> ids, std::span<const std::int32_t> positions,
                    std::span<T> logits, const Probe<T>* probe) {
  const auto vocab = static_cast<std::size_t>(parts_->config.vocab_size);
  for (int row = 0; row < parts_->rows; ++row)
    step_row(row, ids[row], positions[row], logits.subspan(row * vocab, vocab), probe);
}

template <class T>
void Model<T>::step_row(int row, std::int32_t id, std::int32_t position, std::span<T> logits,
                        const Probe<T>* probe) {
  typename Parts::RowStep(*parts_, row, id, position, probe).run(logits);
}

template class Model<float>;
template class Model<double>;

}  // namespace dsv4::reference
