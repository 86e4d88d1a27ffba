// What a site's mixer says beside `pre`: post, and comb by Sinkhorn. Made by a block of a later kernel of the
// sub-layer, in whose shadow it costs nothing; it is the sub-layer's end that needs it.
#pragma once

#include <cstdint>

#include "kernels/follow.cuh"
#include "kernels/hyper_connection.h"

namespace dsv4::kernels {

__device__ inline float sigmoid(float x) {
  return __fdividef(1.0f, 1.0f + expf(-x));
}

// One warp; lane i has row i and column i in turn.
__device__ inline void sinkhorn(float* comb, int n, int iterations, float eps) {
  const int lane = threadIdx.x;
  __syncwarp();
  if (lane < n) {
    float most = comb[lane * n], sum = 0;
    for (int k = 1; k < n; ++k) most = fmaxf(most, comb[lane * n + k]);
    for (int k = 0; k < n; ++k) sum += comb[lane * n + k] = expf(comb[lane * n + k] - most);
    for (int k = 0; k < n; ++k) comb[lane * n + k] = comb[lane * n + k] / sum + eps;
  }
  for (int half = 1; half < 2 * iterations; ++half) {
    const bool columns = half % 2 == 1;
    const int start = columns ? lane : lane * n, step = columns ? n : 1;
    __syncwarp();
    if (lane < n) {
      float sum = eps;
      for (int i = 0; i < n; ++i) sum += comb[start + i * step];
      for (int i = 0; i < n; ++i) comb[start + i * step] /= sum;
    }
  }
  __syncwarp();
}

// 1 / x for a normal positive x, to a last bit: a division that rounds right costs several times as much, and
// forty of them follow one another here, each of which makes good what the one before was off.
__device__ inline float reciprocal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// Half a round of scaling: own[k] becomes own[k] / (own[k] * <its line of the matrix, other> + eps), so that
// the line has sum 1.
template <int N, bool kColumns>
__device__ inline void scale_lines(const float (&m)[N * N], const float (&other)[N], float (&own)[N],
                                   float eps) {
#pragma unroll
  for (int line = 0; line < N; ++line) {
    float sum[2] = {};  // two shorter chains
#pragma unroll
    for (int i = 0; i < N; ++i)
      sum[i % 2] = fmaf(m[kColumns ? i * N + line : line * N + i], other[i], sum[i % 2]);
    own[line] *= reciprocal(fmaf(own[line], sum[0] + sum[1], eps));
  }
}

// The same in registers, each lane for itself, on the factors of rows and columns: the rounds follow from one
// another, so that the length of one counts, and a round through shared memory takes several times as long.
// comb is the softmax of its rows.
template <int N>
__device__ inline void sinkhorn(float (&comb)[N * N], int iterations, float eps) {
  float rows[N], columns[N];
#pragma unroll
  for (int k = 0; k < N; ++k) rows[k] = columns[k] = 1;
  if (iterations > 0) scale_lines<N, true>(comb, rows, columns, eps);
#pragma unroll 1
  for (int i = 1; i < iterations; ++i) {
    scale_lines<N, false>(comb, columns, rows, eps);
    scale_lines<N, true>(comb, rows, columns, eps);
  }
#pragma unroll
  for (int j = 0; j < N; ++j)
#pragma unroll
    for (int k = 0; k < N; ++k) comb[j * N + k] *= rows[j] * columns[k];
}

// A block of at least two warps, for row b of the batch; it does the kernel's waiting.
__device__ inline void mix_row(const HyperConnectionMix& m, int b) {
  __shared__ float shared[kMostStreams * kMostStreams];
  const int n = m.n, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const float scale = m.scale[warp == 1 ? 1 : 2];
  wait_for_previous();
  const float* logits = m.logits + static_cast<std::int64_t>(b) * (2 + n) * n;
  const float inverse = m.inverse[b] * scale;
  const auto at = [&](int i) { return fmaf(logits[i], inverse, m.base[i]); };
  if (warp == 1 && lane < n) m.post[b * n + lane] = 2.0f * sigmoid(at(n + lane));
  if (warp != 0) return;
  float* out = m.comb + static_cast<std::int64_t>(b) * n * n;
  if (n == 4) {  // the softmax of the rows by a lane a value
    const float value = at(2 * 4 + lane % 16);
    float most = value;
    for (int offset = 1; offset < 4; offset *= 2)
      most = fmaxf(most, __shfl_xor_sync(0xFFFFFFFFu, most, offset));
    const float part = expf(value - most);
    float sum = part;
    for (int offset = 1; offset < 4; offset *= 2) sum += __shfl_xor_sync(0xFFFFFFFFu, sum, offset);
    const float share = fmaf(part, reciprocal(sum), m.hc_eps);
    float comb[16];
#pragma unroll
    for (int i = 0; i < 16; ++i) comb[i] = __shfl_sync(0xFFFFFFFFu, share, i);
    sinkhorn<4>(comb, m.sinkhorn_iterations, m.hc_eps);
#pragma unroll
    for (int i = 0; i < 16; ++i)
      if (lane == i) out[i] = comb[i];
    return;
  }
  for (int i = lane; i < n * n; i += 32) shared[i] = at(2 * n + i);
  sinkhorn(shared, n, m.sinkhorn_iterations, m.hc_eps);
  for (int i = lane; i < n * n; i += 32) out[i] = shared[i];
}

}  // namespace dsv4::kernels
