// A model on one device, ready to step: weights, state and every buffer made once.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <optional>

#include "engine/cuda/step/step.h"

namespace dsv4::cuda {

struct EngineOptions {
  int rows = 1;
  int lanes = 0;  // tokens that a step can feed (kernels/lanes.h); 0: as many as rows
  int chunk = 1;  // of one row; at most as many as lanes
  int max_positions = 1;
  // The state's compressed entries in pages of so many tokens (page_tokens_for), so many of them for all rows
  // together. 0: a row's lie in one piece that is as long as `max_positions` wants.
  int page_tokens = 0, pages = 0;
  const UnmadeTensors* unmade = nullptr;  // of weights that are to be made on the device
  bool recording = false;                 // room for copies of every component, and for forced choices
};

class Engine {
 public:
  // On the current device. `weights` are not needed afterwards.
  static capgate::Result<std::unique_ptr<Engine>> create(const ModelConfig& config,
                                                         const ModelWeights& weights,
                                                         const EngineOptions& options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const Step& step() const { return step_; }
  cudaStream_t stream() const { return stream_; }
  Recording* recording() { return recording_ ? &*recording_ : nullptr; }
  std::uint64_t weight_bytes() const { return weight_memory_.total(); }
  std::uint64_t state_bytes() const { return state_memory_.total(); }
  // From now on no lane feeds anything.
  cudaError_t free_lanes() const;
  // Every byte of state, activations and inputs becomes 0xFF: NaN as a float, -1 as an integer. Lanes
  // and pages must be set anew.
  capgate::Result<void> poison();

 private:
  Engine() = default;
  capgate::Result<void> make(const ModelConfig& config, const ModelWeights& weights,
                             const EngineOptions& options);
  void make_state(const EngineOptions& options);
  void make_activations(const EngineOptions& options);
  void make_product_room();

  cudaStream_t stream_ = nullptr;
  DeviceMemory weight_memory_, state_memory_, product_memory_;
  std::optional<Recording> recording_;
  Step step_;
};

// The least number of tokens, not under `wanted`, whose entries fill a page in every kind of layer.
int page_tokens_for(const ModelConfig& config, int wanted);

// "no CUDA device" and the like, or nothing wrong.
capgate::Result<void> device_ready();

// Bytes of the current device that weights and state may take: what is free, less what a benchmark's own
// buffers, the graphs and the driver need.
capgate::Result<std::uint64_t> room_for_weights();

}  // namespace dsv4::cuda
