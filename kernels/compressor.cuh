// A token's turn of a compressor (compressor.h), by one block.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/compressor.h"
#include "kernels/follow.cuh"
#include "kernels/lanes.h"
#include "kernels/pages.cuh"
#include "kernels/reduce.cuh"
#include "kernels/rotate.cuh"

namespace dsv4::kernels {

// Which lane feeds the token that is d positions before `position` of `row` in this step, for every d; -1:
// none.
template <int kThreads>
__device__ inline void find_lanes(const Compressor& c, int row, int position, int (&lane_of)[kMostLanes]) {
  for (int d = threadIdx.x; d < kMostLanes; d += kThreads) lane_of[d] = -1;
  __syncthreads();
  for (int lane = threadIdx.x; lane < c.lanes; lane += kThreads) {
    const int before = position - c.positions[lane];
    if (c.rows[lane] == row && before >= 0 && before < kMostLanes) lane_of[before] = lane;
  }
  __syncthreads();
}

// A channel's softmax over its window: gate(j) and kv(j) are its token j's, from `first` on.
template <class Gate, class Kv>
__device__ inline float pooled(int first, int ring, const Gate& gate, const Kv& kv) {
  float most = -INFINITY, weights = 0, sum = 0;
#pragma unroll 8
  for (int j = first; j < ring; ++j) most = fmaxf(most, gate(j));
#pragma unroll 8
  for (int j = first; j < ring; ++j) {
    const float weight = expf(gate(j) - most);
    weights += weight;
    sum = fmaf(weight, kv(j), sum);
  }
  return sum / weights;
}

// Lane b, by kThreads threads, each of which keeps to its channels, so that it reads back only what it wrote.
// `entry` has room for c.dim floats. It does the kernel's waiting.
template <int kThreads>
__device__ inline void compress_row(const Compressor& c, int b, float* entry) {
  __shared__ alignas(16) float scratch[kThreads / 32];
  __shared__ int lane_of[kMostLanes];
  const int position = c.positions[b], row = c.rows != nullptr ? c.rows[b] : b;
  const std::int64_t rings = static_cast<std::int64_t>(row) * c.slots * c.width;
  float* kv_ring = c.kv_ring + rings;
  float* gate_ring = c.gate_ring + rings;
  const float* kv = c.kv + static_cast<std::int64_t>(b) * c.width;
  const float* gate = c.gate + static_cast<std::int64_t>(b) * c.width;
  const float* bias = c.ape + static_cast<std::int64_t>(position % c.ratio) * c.width;
  const std::int64_t slot = static_cast<std::int64_t>(position % c.slots) * c.width;
  wait_for_previous();
  if (row < 0) return;
  for (int d = threadIdx.x; d < c.dim; d += kThreads)
    for (int i = d; i < c.width; i += c.dim) {
      kv_ring[slot + i] = kv[i];
      gate_ring[slot + i] = gate[i] + bias[i];
    }
  const int w = position / c.ratio;
  if ((position + 1) % c.ratio != 0 || w >= c.max_entries) return;  // the same for the whole block

  const bool shared = c.lanes > 1;
  if (shared) find_lanes<kThreads>(c, row, position, lane_of);
  const int first = max(0, c.ring - 1 - position), oldest = position + 1 - c.ring + first;  // a position
  const int oldest_slot = oldest % c.slots;
  float squares = 0;
  for (int d = threadIdx.x; d < c.dim; d += kThreads) {
    // Token j of the window, first to ring - 1, the oldest first.
    const auto channel = [&](int j) { return c.overlap && j >= c.ratio ? c.dim + d : d; };
    const auto in_ring = [&](int j) {
      const int unwrapped = oldest_slot + j - first;
      return static_cast<std::int64_t>(unwrapped < c.slots ? unwrapped : unwrapped - c.slots) * c.width +
             channel(j);
    };
    if (!shared) {
      entry[d] = pooled(
          first, c.ring, [&](int j) { return gate_ring[in_ring(j)]; },
          [&](int j) { return kv_ring[in_ring(j)]; });
    } else {
      const auto lane = [&](int j) {
        const int before = c.ring - 1 - j;
        return before < kMostLanes ? lane_of[before] : -1;
      };
      const auto gate_of = [&](int j) {
        const int other = lane(j);
        if (other < 0) return gate_ring[in_ring(j)];
        return c.gate[static_cast<std::int64_t>(other) * c.width + channel(j)] +
               c.ape[static_cast<std::int64_t>((oldest + j - first) % c.ratio) * c.width + channel(j)];
      };
      entry[d] = pooled(first, c.ring, gate_of, [&](int j) {
        const int other = lane(j);
        return other < 0 ? kv_ring[in_ring(j)]
                         : c.kv[static_cast<std::int64_t>(other) * c.width + channel(j)];
      });
    }
    squares = fmaf(entry[d], entry[d], squares);
  }
  const float scale = rsqrtf(block_sum(squares, scratch) / static_cast<float>(c.dim) + c.eps);
  float* out = c.entries + entry_index(c.pages, row, w) * c.dim;
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
