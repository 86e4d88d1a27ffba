#include "engine/cuda/check/probed_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string_view>

#include "engine/cuda/memory/status.h"
#include "engine/model/components.h"

namespace dsv4::cuda {
namespace {

using capgate::Error;
using capgate::Result;
using reference::ChoiceSite;
using reference::Probe;

class ProbedEngine final : public TestedEngine<float> {
 public:
  explicit ProbedEngine(std::unique_ptr<Engine> engine)
      : engine_(std::move(engine)), step_(engine_->step()), config_(step_.config) {}

  Result<void> step(std::span<const std::int32_t> ids, std::span<const std::int32_t> positions,
                    std::span<float> logits, const Probe<float>* probe) override {
    ids_ = ids;
    positions_ = positions;
    if (auto ok = force_nothing(); !ok) return ok;
    if (auto ok = run(logits); !ok) return ok;
    if (probe == nullptr) return {};
    if (probe->choice)
      if (auto ok = offer_choices(*probe, logits); !ok) return ok;
    if (probe->activation) show(*probe);
    return {};
  }

 private:
  template <class T>
  void put(T* device, const T* host, std::size_t count) {
    keep(cudaMemcpyAsync(device, host, count * sizeof(T), cudaMemcpyHostToDevice, engine_->stream()));
  }
  void keep(cudaError_t status) {
    if (status_ == cudaSuccess) status_ = status;
  }
  Result<void> finish() {
    keep(cudaStreamSynchronize(engine_->stream()));
    return done(status_, "a step on the device");
  }

  Result<void> force_nothing() {
    const std::vector<int> free(static_cast<std::size_t>(step_.rows), -1);
    for (const LayerState& layer : step_.state)
      for (const auto& forced : {layer.forced_entries, layer.forced_experts})
        if (forced.count != nullptr) put(const_cast<int*>(forced.count), free.data(), free.size());
    return finish();
  }

  // One step from the given ids and positions; everything recorded comes to the host.
  Result<void> run(std::span<float> logits) {
    const std::vector<kernels::RowSampling> greedy(static_cast<std::size_t>(step_.rows));
    std::vector<int> rows(static_cast<std::size_t>(step_.rows));
    std::iota(rows.begin(), rows.end(), 0);
    put(step_.lane.rows, rows.data(), rows.size());
    put(step_.lane.ids, ids_.data(), ids_.size());
    put(step_.lane.positions, positions_.data(), positions_.size());
    put(step_.lane.sampling, greedy.data(), greedy.size());
    engine_->recording()->begin();
    keep(enqueue_step(step_, step_.rows, engine_->stream(), engine_->recording()));
    if (engine_->recording()->overflow()) return Error{"more components than there is room for"};
    values_.resize(static_cast<std::size_t>(engine_->recording()->used()));
    keep(cudaMemcpyAsync(values_.data(), engine_->recording()->arena(), values_.size() * sizeof(float),
                         cudaMemcpyDeviceToHost, engine_->stream()));
    keep(cudaMemcpyAsync(logits.data(), step_.a.logits, logits.size() * sizeof(float), cudaMemcpyDeviceToHost,
                         engine_->stream()));
    return finish();
  }

  std::span<const float> values(const Recorded& item, int row) const {
    return std::span<const float>(values_).subspan(
        static_cast<std::size_t>(item.offset + std::int64_t{row} * item.width),
        static_cast<std::size_t>(item.width));
  }
  std::vector<int> integers(const Recorded& item, int row) const {
    std::vector<int> out(static_cast<std::size_t>(item.width));
    std::memcpy(out.data(), values(item, row).data(), out.size() * sizeof(int));
    return out;
  }

  const Recorded* find(std::string_view name, int layer) const {
    for (const Recorded& item : engine_->recording()->items())
      if (item.layer == layer && name == item.name) return &item;
    return nullptr;
  }

  int closed(int layer, int row) const {
    return closed_entries(positions_[static_cast<std::size_t>(row)],
                          config_.ratio(config_.layer_types[static_cast<std::size_t>(layer)]));
  }

  // A new run for each row of each choice that is replaced; those before it come out as they were.
  Result<void> offer_choices(const Probe<float>& probe, std::span<float> logits) {
    for (int layer = 0; layer < config_.num_layers(); ++layer) {
      const LayerState& state = step_.state[static_cast<std::size_t>(layer)];
      for (const auto kind : {ChoiceSite::kIndex, ChoiceSite::kExperts}) {
        const bool index = kind == ChoiceSite::kIndex;
        const auto& forced = index ? state.forced_entries : state.forced_experts;
        if (forced.count == nullptr) continue;
        for (int row = 0; row < step_.rows; ++row) {
          const Recorded* scores = find(index ? component::kIndexScores : kBiasedScores, layer);
          const Recorded* choice = find(index ? kChosenEntries : kChosenExperts, layer);
          if (scores == nullptr || choice == nullptr) return Error{"a choice was not recorded"};
          std::vector<int> chosen = integers(*choice, row);
          std::erase(chosen, -1);
          auto shown = values(*scores, row);
          if (index) shown = shown.first(static_cast<std::size_t>(closed(layer, row)));
          if (shown.empty()) continue;
          const std::vector<int> own = chosen;
          probe.choice({kind, layer, row, positions_[static_cast<std::size_t>(row)]}, shown, chosen);
          if (chosen == own) continue;
          if (chosen.size() > static_cast<std::size_t>(choice->width))
            return Error{fmt::format("layer {}: {} choices of {}", layer, chosen.size(), choice->width)};
          const int count = static_cast<int>(chosen.size());
          put(const_cast<int*>(forced.chosen) + std::int64_t{row} * choice->width, chosen.data(),
              chosen.size());
          put(const_cast<int*>(forced.count) + row, &count, 1);
          if (auto ok = finish(); !ok) return ok;
          if (auto ok = run(logits); !ok) return ok;
        }
      }
    }
    return {};
  }

  void show(const Probe<float>& probe) const {
    for (int row = 0; row < step_.rows; ++row)
      for (const Recorded& item : engine_->recording()->items()) show(probe, item, row);
  }

  void show(const Probe<float>& probe, const Recorded& item, int row) const {
    const std::string_view name = item.name;
    auto shown = values(item, row);
    std::vector<float> by_expert;
    std::string_view as = name;
    if (name == component::kEmbed) {
      shown = shown.first(static_cast<std::size_t>(config_.hidden_size));
    } else if (name == component::kShared) {
      shown = shown.last(static_cast<std::size_t>(config_.hidden_size));
    } else if (name == component::kEntry || name == component::kIndexKey) {
      const int dim = name == component::kEntry ? config_.head_dim : config_.index_head_dim;
      const int position = positions_[static_cast<std::size_t>(row)];
      if (closed(item.layer, row) == closed_entries(position - 1, ratio(item.layer))) return;
      shown = shown.subspan(static_cast<std::size_t>(closed(item.layer, row) - 1) * dim,
                            static_cast<std::size_t>(dim));
    } else if (name == component::kIndexScores) {
      shown = shown.first(static_cast<std::size_t>(closed(item.layer, row)));
      if (shown.empty()) return;
    } else if (name == kShares) {
      by_expert.resize(static_cast<std::size_t>(config_.num_experts));
      const auto chosen = integers(*find(kChosenExperts, item.layer), row);
      for (std::size_t i = 0; i < chosen.size(); ++i)
        by_expert[static_cast<std::size_t>(chosen[i])] += shown[i];
      shown = by_expert;
      as = component::kExpertWeights;
    } else if (name == kChosenEntries || name == kChosenExperts || name == kBiasedScores) {
      return;
    }
    if (item.layer < 0)
      probe.activation(as, row, shown);
    else
      probe.activation(fmt::format("layers.{}.{}", item.layer, as), row, shown);
  }

  int ratio(int layer) const { return config_.ratio(config_.layer_types[static_cast<std::size_t>(layer)]); }

  std::unique_ptr<Engine> engine_;
  const Step& step_;
  const ModelConfig& config_;
  std::span<const std::int32_t> ids_, positions_;
  std::vector<float> values_;
  cudaError_t status_ = cudaSuccess;
};

}  // namespace

Result<std::unique_ptr<TestedEngine<float>>> make_probed_engine(const ModelConfig& config,
                                                                const ModelWeights& weights, int rows,
                                                                int max_positions) {
  EngineOptions options;
  options.rows = rows;
  options.max_positions = max_positions;
  options.recording = true;
  auto engine = Engine::create(config, weights, options);
  if (!engine) return Error{engine.error()};
  if (auto ok = (*engine)->poison(); !ok) return Error{ok.error()};
  return std::unique_ptr<TestedEngine<float>>(new ProbedEngine(std::move(*engine)));
}

}  // namespace dsv4::cuda
