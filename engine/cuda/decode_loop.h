// The decode loop: a prompt and its continuation for every row, all through the one step. The host learns
// each token a step late, from a pinned ring that the step itself writes, after an event; by then the next
// step is already under way.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/cuda/captured_step.h"
#include "engine/cuda/engine.h"
#include "engine/model/sampling.h"

namespace dsv4::cuda {

struct Request {
  std::vector<int> prompt;  // at least one token
  int max_tokens = 1;       // new ones; prompt and new ones fit the engine's positions
  bool ignore_eos = false;
  Sampling sampling;
};

class DecodeLoop {
 public:
  // `captured`: replay it; null: run the step itself each time. Both must outlive the loop.
  static capgate::Result<std::unique_ptr<DecodeLoop>> create(Engine& engine, const CapturedStep* captured);
  ~DecodeLoop();
  DecodeLoop(const DecodeLoop&) = delete;
  DecodeLoop& operator=(const DecodeLoop&) = delete;

  // At most as many requests as the engine has rows; the rest of the bucket is padding. Calls
  // on_token(row, token) for each new token in order, without stop tokens.
  capgate::Result<void> run(const std::vector<Request>& requests, int bucket,
                            const std::function<void(int, int)>& on_token);

  // What is put on the engine's stream behind each step from now on, for a look at what the step left.
  void watch(std::function<cudaError_t(int step)> after_step) { after_step_ = std::move(after_step); }

 private:
  static constexpr int kSlots = Step::kRingSlots;

  DecodeLoop(Engine& engine, const CapturedStep* captured) : engine_(engine), captured_(captured) {}
  capgate::Result<void> make();
  capgate::Result<void> start(const std::vector<Request>& requests);
  cudaError_t enqueue(int bucket, int step);

  Engine& engine_;
  const CapturedStep* captured_;
  std::function<cudaError_t(int)> after_step_;
  cudaEvent_t ready_[kSlots] = {};
};

}  // namespace dsv4::cuda
