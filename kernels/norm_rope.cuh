// One head of a row, normalised and rotated (norm_rope.h), by one block.
#pragma once

#include <cstdint>

#include "kernels/follow.cuh"
#include "kernels/norm_rope.h"
#include "kernels/reduce.cuh"
#include "kernels/rotate.cuh"

namespace dsv4::kernels {

// Head `head` of lane b. It does the kernel's waiting.
template <int kThreads>
__device__ inline void norm_rope_head(const NormRope& a, int head, int b) {
  __shared__ alignas(16) float scratch[kThreads / 32];
  const int position = a.positions != nullptr ? a.positions[b] : 0;
  const std::int64_t offset = (static_cast<std::int64_t>(b) * a.heads + head) * a.dim;
  const float* in = a.in + offset;
  float* out = a.out + offset;
  float* window = nullptr;
  const int row = a.rows != nullptr ? a.rows[b] : b;
  if (a.window && row >= 0)
    window = a.window + (static_cast<std::int64_t>(row) * a.window_slots + position % a.window_slots) * a.dim;
  const float first_weight = a.weight && threadIdx.x < a.dim ? a.weight[threadIdx.x] : 1.0f;
  const int pairs = a.frequencies ? a.pairs : 0, plain = a.dim - 2 * pairs;
  const int own_pair = threadIdx.x;
  const float2 own_turn = own_pair < pairs ? turn_of(position, a.frequencies[own_pair]) : float2{};
  wait_for_previous();
  float scale = 1;
  if (a.normalise) {
    float squares = 0;
    for (int i = threadIdx.x; i < a.dim; i += kThreads) squares = fmaf(in[i], in[i], squares);
    scale = rsqrtf(block_sum(squares, scratch) / static_cast<float>(a.dim) + a.eps);
  }
  const auto value = [&](int i) { return in[i] * scale * (a.weight ? a.weight[i] : 1.0f); };
  const auto store = [&](int i, float v) {
    out[i] = v;
    if (window) window[i] = v;
  };
  for (int i = threadIdx.x; i < plain; i += kThreads)
    store(i, i < kThreads ? in[i] * scale * first_weight : value(i));
  for (int i = threadIdx.x; i < pairs; i += kThreads) {
    const int at = plain + 2 * i;
    const float2 turned = rotated(value(at), value(at + 1),
                                  i == own_pair ? own_turn : turn_of(position, a.frequencies[i]), false);
    store(at, turned.x);
    store(at + 1, turned.y);
  }
}

}  // namespace dsv4::kernels
