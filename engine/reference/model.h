// The decode step of DeepSeek-V4 on the CPU, in float or double: plain code that says what the model
// computes, judges the kernels, and runs anywhere. Equations are in the headers beside this one, one function
// each.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "engine/config/model_config.h"
#include "engine/reference/probe.h"
#include "engine/weights/model_weights.h"

namespace dsv4::reference {

template <class T>
class Model {
 public:
  // `weights` (and what it points to) must outlive the model. Rows are independent; each can hold
  // `max_positions` tokens.
  Model(const ModelConfig& config, const ModelWeights& weights, int rows, int max_positions);
  ~Model();
  Model(Model&&) noexcept;

  // Feeds one token to every row: ids[r] at positions[r] (0 <= id < vocab_size, 0 <= position <
  // max_positions). A row at position p must have been fed positions 0 to p - 1; position 0 starts it anew. A
  // row that nobody uses is fed id 0 at position 0. Writes logits[rows, vocab_size].
  void step(std::span<const std::int32_t> ids, std::span<const std::int32_t> positions, std::span<T> logits,
            const Probe<T>* probe = nullptr);
  // One row alone; writes logits[vocab_size].
  void step_row(int row, std::int32_t id, std::int32_t position, std::span<T> logits,
                const Probe<T>* probe = nullptr);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

extern template class Model<float>;
extern template class Model<double>;

}  // namespace dsv4::reference
