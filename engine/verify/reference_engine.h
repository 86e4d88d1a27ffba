// The CPU reference in the form in which engines are tested.
#pragma once

#include "engine/reference/model.h"
#include "engine/verify/tested_engine.h"

namespace dsv4 {

template <class T>
class ReferenceEngine final : public TestedEngine<T> {
 public:
  ReferenceEngine(const ModelConfig& config, const ModelWeights& weights, int rows, int max_positions)
      : model_(config, weights, rows, max_positions) {}
  capgate::Result<void> step(std::span<const std::int32_t> ids, std::span<const std::int32_t> positions,
                             std::span<T> logits, const reference::Probe<T>* probe) override {
    model_.step(ids, positions, logits, probe);
    return {};
  }

 private:
  reference::Model<T> model_;
};

template <class T>
EngineFactory<T> reference_engine() {
  return [](const ModelConfig& config, const ModelWeights& weights, int rows,
            int max_positions) -> capgate::Result<std::unique_ptr<TestedEngine<T>>> {
    return std::unique_ptr<TestedEngine<T>>(new ReferenceEngine<T>(config, weights, rows, max_positions));
  };
}

}  // namespace dsv4
