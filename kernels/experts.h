// The experts' clamped SwiGLU. Which expert a slot runs is read from device memory inside the kernel: a work
// item is (slot, tile of output rows), its number fixed by the shape, so that no host line ever asks for an
// expert's name.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/hyper_connection.h"
#include "kernels/matrix.h"
#include "kernels/stream.h"

namespace dsv4::kernels {

// Matrices of one shape and format, one after the other; strides in bytes.
struct ExpertMatrices {
  Matrix first;
  std::int64_t data_stride = 0, scale_stride = 0;
};

struct ExpertsUp {
  ExpertMatrices w1, w3;  // [I, D] each
  const float* x;         // [batch, D]
  const int* chosen;      // [batch, slots]; null: expert 0 in every slot
  float* out;             // [batch, out_slots, I], from slot 0
  int slots, out_slots;
  float limit;
  // The shared expert's, in slot `slots`, of the shape of the others; without data there is none.
  Matrix shared_w1{}, shared_w3{};
  // Where these have data, the others have none: both in one, in tiles (lay_out_pair).
  ExpertMatrices both{};
  Matrix shared_both{};
};

// silu(min(W1 x, limit)) * clamp(W3 x, -limit, limit)
//   bytes: two matrices a slot; in tiles the bytes of an expert once for each four rows that chose it;
//   FLOPs: 4 I D a slot
void experts_up(cudaStream_t stream, const ExpertsUp& args, int batch, const HyperConnectionMix& beside = {});

// The shared expert alone, in tiles, as a task of stream_weights.
StreamTask shared_up_task(const ExpertsUp& args);

struct ExpertsDown {
  ExpertMatrices w2;  // [D, I]
  const float* x;     // [batch, x_slots, I], from slot 0
  const int* chosen;
  float* out;  // [batch, out_slots, D], from slot 0
  int slots, x_slots, out_slots;
  Matrix shared_w2{};                 // as above; by rows or in tiles, as w2
  const ProductRoom* room = nullptr;  // of stream_weights
};

// bytes: one matrix a slot, in tiles as above; FLOPs: 2 I D a slot
void experts_down(cudaStream_t stream, const ExpertsDown& args, int batch);

}  // namespace dsv4::kernels
