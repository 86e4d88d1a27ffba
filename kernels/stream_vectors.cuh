// The vectors that meet streamed weights, and what becomes of the sums: the same for few and for many.
#pragma once

#include "kernels/reduce.cuh"

namespace dsv4::kernels {

// Eight values from `col` on, zeros from `cols` on. `whole`: four may be read at a time.
__device__ inline void eight_of(const float* x, int col, int cols, bool whole, float4 (&to)[2]) {
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int left = cols - col - 4 * i;
    if (whole) {
      to[i] = left > 0 ? *reinterpret_cast<const float4*>(x + col + 4 * i) : float4{};
    } else {
      const float* const from = x + col + 4 * i;
      to[i] = {left > 0 ? from[0] : 0.0f, left > 1 ? from[1] : 0.0f, left > 2 ? from[2] : 0.0f,
               left > 3 ? from[3] : 0.0f};
    }
  }
}

// Times the norm's weights; gives back the squares of the warp's 256 values as they were.
__device__ inline float weigh(float4 (&x)[2], const float4 (&weight)[2]) {
  float squares = 0;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    squares = fmaf(x[i].x, x[i].x, fmaf(x[i].y, x[i].y, squares));
    squares = fmaf(x[i].z, x[i].z, fmaf(x[i].w, x[i].w, squares));
    x[i] = {x[i].x * weight[i].x, x[i].y * weight[i].y, x[i].z * weight[i].z, x[i].w * weight[i].w};
  }
  return warp_sum(squares);
}

// 1 / rms of a vector whose slices have these squares.
__device__ inline float inverse_rms(const float* squares, int slices, int cols, float eps) {
  float sum = 0;
  for (int s = 0; s < slices; ++s) sum += squares[s];
  return rsqrtf(sum / static_cast<float>(cols) + eps);
}

__device__ inline float clamped_swiglu(float gate, float up, float limit) {
  gate = fminf(gate, limit);
  up = fminf(fmaxf(up, -limit), limit);
  return gate / (1.0f + expf(-gate)) * up;
}

}  // namespace dsv4::kernels
