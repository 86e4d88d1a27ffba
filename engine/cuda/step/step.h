// The decode step: everything that one token of every row takes, put on a stream and nothing else. No wait,
// no allocation, no look at a device value; what differs from step to step (ids, positions, routing, windows
// that close) is device data under fixed shapes.
#pragma once

#include <cuda_runtime_api.h>

#include <vector>

#include "engine/config/model_config.h"
#include "engine/cuda/step/recording.h"
#include "engine/cuda/weights/device_weights.h"
#include "engine/model/decode_state.h"
#include "kernels/indexer.h"
#include "kernels/lanes.h"
#include "kernels/pages.h"
#include "kernels/product.h"

namespace dsv4::cuda {

struct CompressorState {
  CompressorShape shape{};
  float *kv_ring = nullptr, *gate_ring = nullptr, *entries = nullptr;
  kernels::Pages pages;  // of the entries
};

// What a row keeps of one layer (model/decode_state.h).
struct LayerState {
  float* window = nullptr;
  CompressorState compressor, index_compressor;
  kernels::ForcedChoice forced_entries, forced_experts;  // verification only
};

// Between two kernels of one step; each [lanes, its width] and used again by every layer.
struct Activations {
  float *streams, *mix, *mix_parts, *inverse, *post, *comb, *collapsed, *normed;
  float *q_residual, *q_normed, *q, *q_prepared, *kv, *compressor_kv, *compressor_gate, *index_kv,
      *index_gate;
  float *index_query, *index_rotated, *index_weights, *index_scores;
  int* chosen_entries;
  float *context, *output_a, *attn_out;
  float *router_logits, *router_scores, *router_biased, *shares;
  int* chosen_experts;
  float *expert_inner, *expert_parts, *routed, *ffn_out;
  float* logits;
};

struct Step {
  ModelConfig config;
  DeviceWeights weights;
  std::vector<LayerState> state;
  Activations a{};
  int rows = 0, max_positions = 0;
  int lanes = 0;  // tokens that a step can feed, at least one for each row
  int chunk = 1;  // of one row
  // The step's input and output in one: the fed token and its position become the next ones.
  kernels::Lanes lane{};
  int* sampled = nullptr;
  kernels::ProductRoom product;    // where a step may have more lanes than kFewVectors
  int page_tokens = 0, pages = 0;  // 0: a row's state lies in one piece
  // What the host reads of it, a few steps behind (decode_loop.h): pinned, [kRingSlots, lanes], and each
  // lane's count of steps.
  static constexpr int kRingSlots = 4;
  int* ring = nullptr;
  unsigned* ring_step = nullptr;

  const kernels::ProductRoom* room() const { return product.limbs != nullptr ? &product : nullptr; }
  int window_slots() const { return config.sliding_window + chunk - 1; }
};

// Lanes [0, batch). `recording`, where there is one, gets a copy of every component.
cudaError_t enqueue_step(const Step& step, int batch, cudaStream_t stream, Recording* recording = nullptr);

// The same with breaks at attention. Pieces 0 to num_layers() in order, with the attention of layer l between
// piece l and piece l + 1, are one step.
cudaError_t enqueue_piece(const Step& step, int batch, int number, cudaStream_t stream);
cudaError_t enqueue_attention(const Step& step, int batch, int layer, cudaStream_t stream);

}  // namespace dsv4::cuda
