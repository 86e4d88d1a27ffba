// A token's turn of a compressor (compressor.h), by one block.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/compressor.h"
#include "kernels/follow.cuh"
#include "kernels/reduce.cuh"
#include "kernels/rotate.cuh"

namespace dsv4::kernels {

// Row b, by kThreads threads, each of which keeps to its channels, so that it reads back only what it wrote.
// `entry` has room for c.dim floats. It does the kernel's waiting.
template <int kThreads>
__device__ inline void compress_row(const Compressor& c, int b, float* entry) {
  __shared__ alignas(16) float scratch[kThreads / 32];
  const int position = c.positions[b];
  const std::int64_t row = static_cast<std::int64_t>(b) * c.ring * c.width;
  float* kv_ring = c.kv_ring + row;
  float* gate_ring = c.gate_ring + row;
  const float* kv = c.kv + static_cast<std::int64_t>(b) * c.width;
  const float* gate = c.gate + static_cast<std::int64_t>(b) * c.width;
  const float* bias = c.ape + static_cast<std::int64_t>(position % c.ratio) * c.width;
  const std::int64_t slot = static_cast<std::int64_t>(position % c.ring) * c.width;
  wait_for_previous();
  for (int d = threadIdx.x; d < c.dim; d += kThreads)
    for (int i = d; i < c.width; i += c.dim) {
      kv_ring[slot + i] = kv[i];
      gate_ring[slot + i] = gate[i] + bias[i];
    }
  const int w = position / c.ratio;
  if ((position + 1) % c.ratio != 0 || w >= c.max_entries) return;  // the same for the whole block

  const int first = max(0, c.ring - 1 - position), oldest = (position + 1) % c.ring;
  float squares = 0;
  for (int d = threadIdx.x; d < c.dim; d += kThreads) {
    // Slots of the tokens first to ring - 1 of the window, the oldest first.
    const auto at = [&](int j) {
      const int slot_of_j = oldest + j < c.ring ? oldest + j : oldest + j - c.ring;
      return static_cast<std::int64_t>(slot_of_j) * c.width + (c.overlap && j >= c.ratio ? c.dim + d : d);
    };
    float most = -INFINITY, weights = 0, sum = 0;
#pragma unroll 8
    for (int j = first; j < c.ring; ++j) most = fmaxf(most, gate_ring[at(j)]);
#pragma unroll 8
    for (int j = first; j < c.ring; ++j) {
      const float weight = expf(gate_ring[at(j)] - most);
      weights += weight;
      sum = fmaf(weight, kv_ring[at(j)], sum);
    }
    entry[d] = sum / weights;
    squares = fmaf(entry[d], entry[d], squares);
  }
  const float scale = rsqrtf(block_sum(squares, scratch) / static_cast<float>(c.dim) + c.eps);
  float* out = c.entries + (static_cast<std::int64_t>(b) * c.max_entries + w) * c.dim;
  const int plain = c.dim - 2 * c.pairs;
  for (int i = threadIdx.x; i < plain; i += kThreads) out[i] = entry[i] * scale * c.norm[i];
  for (int i = threadIdx.x; i < c.pairs; i += kThreads) {
    const int at = plain + 2 * i;
    const float2 turned = rotated(entry[at] * scale * c.norm[at], entry[at + 1] * scale * c.norm[at + 1],
                                  turn_of(w * c.ratio, c.frequencies[i]), false);
    out[at] = turned.x;
    out[at + 1] = turned.y;
  }
}

}  // namespace dsv4::kernels
