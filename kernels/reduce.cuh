// Sums over a warp and a block, in an order that is always the same.
#pragma once

namespace dsv4::kernels {

__device__ inline float warp_sum(float v) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(0xFFFFFFFFu, v, offset);
  return v;
}

// The sum over a block of kWarps warps, to every thread. `scratch`, aligned to 16 bytes, must not be written
// again before the next barrier.
template <int kWarps>
__device__ inline float block_sum(float v, float (&scratch)[kWarps]) {
  v = warp_sum(v);
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = v;
  __syncthreads();
  if constexpr (kWarps > 8) return warp_sum(threadIdx.x % 32 < kWarps ? scratch[threadIdx.x % 32] : 0.0f);
  float sum = 0;  // a few reads side by side are sooner done than shuffles one after the other
#pragma unroll
  for (int i = 0; i < kWarps; ++i) sum += scratch[i];
  return sum;
}

}  // namespace dsv4::kernels
