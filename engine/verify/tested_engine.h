// What verify_case asks of an engine under test: the reference's step, which may fail.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "base/result.h"
#include "engine/config/model_config.h"
#include "engine/reference/probe.h"
#include "engine/weights/model_weights.h"

namespace dsv4 {

template <class T>
class TestedEngine {
 public:
  virtual ~TestedEngine() = default;
  // As reference::Model::step.
  virtual capgate::Result<void> step(std::span<const std::int32_t> ids,
                                     std::span<const std::int32_t> positions, std::span<T> logits,
                                     const reference::Probe<T>* probe) = 0;
};

template <class T>
using EngineFactory = std::function<capgate::Result<std::unique_ptr<TestedEngine<T>>>(
    const ModelConfig& config, const ModelWeights& weights, int rows, int max_positions)>;

}  // namespace dsv4
