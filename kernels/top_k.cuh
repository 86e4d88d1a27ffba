// The k largest of n values by one block: of equals the lowest index, visited in ascending order of index.
#pragma once

#include <cstdint>

namespace dsv4::kernels {

constexpr int kMostCounted = 128;  // values up to which counting is faster than the rounds of find_threshold

struct TopKScratch {
  unsigned keys[kMostCounted];
  unsigned histogram[256];
  unsigned prefix;
  int needed;
  int above[32], equal[32];
};

// Ascending with the value; both zeros are one.
__device__ inline unsigned ordered(float value) {
  const unsigned bits = __float_as_uint(value + 0.0f);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

// Eight bits a round, from the top: where the k-th largest lies. All larger keys are in, and the first
// `needed` of the equal ones.
__device__ inline void find_threshold(const float* values, int n, int k, TopKScratch& s) {
  unsigned mask = 0;
  if (threadIdx.x == 0) {
    s.prefix = 0;
    s.needed = k;
  }
  for (int shift = 24; shift >= 0; shift -= 8) {
    for (int i = threadIdx.x; i < 256; i += blockDim.x) s.histogram[i] = 0;
    __syncthreads();
    const unsigned prefix = s.prefix;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
      const unsigned key = ordered(values[i]);
      if ((key & mask) == prefix) atomicAdd(&s.histogram[key >> shift & 255u], 1u);
    }
    __syncthreads();
    if (threadIdx.x < 32) {  // lane l has the eight bins from 255 - 8 l downwards
      const int lane = threadIdx.x, top = 255 - 8 * lane, needed = s.needed;
      int own = 0;
      for (int j = 0; j < 8; ++j) own += static_cast<int>(s.histogram[top - j]);
      int upto = own;
      for (int offset = 1; offset < 32; offset *= 2) {
        const int other = __shfl_up_sync(0xFFFFFFFFu, upto, offset);
        if (lane >= offset) upto += other;
      }
      int before = upto - own;
      __syncwarp();
      if (before < needed && upto >= needed) {
        int bin = top;
        while (before + static_cast<int>(s.histogram[bin]) < needed)
          before += static_cast<int>(s.histogram[bin--]);
        s.prefix = prefix | static_cast<unsigned>(bin) << shift;
        s.needed = needed - before;
      }
    }
    mask |= 255u << shift;
    __syncthreads();
  }
}

// A thread a value: it is in if fewer than k of the others come before it.
template <class Visit>
__device__ inline void visit_counted(const float* values, int n, int k, TopKScratch& s, Visit visit) {
  const int i = threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned own = i < n ? ordered(values[i]) : 0u;
  if (i < n) s.keys[i] = own;
  __syncthreads();
  bool chosen = false;
  if (i < n) {
    int before = 0;
#pragma unroll 8
    for (int j = 0; j < n; ++j) before += s.keys[j] > own || (s.keys[j] == own && j < i) ? 1 : 0;
    chosen = before < k;
  }
  const unsigned in_warp = __ballot_sync(0xFFFFFFFFu, chosen);
  if (lane == 0) s.above[warp] = __popc(in_warp);
  __syncthreads();
  int rank = __popc(in_warp & ((1u << lane) - 1u));
  for (int w = 0; w < warp; ++w) rank += s.above[w];
  if (chosen) visit(rank, i);
  __syncthreads();
}

// visit(rank, index) for each of the min(k, n) chosen, rank 0 first in order of index. Called by all threads
// of a block of whole warps; values are visible to all of them.
template <class Visit>
__device__ inline void visit_top_k(const float* values, int n, int k, TopKScratch& s, Visit visit) {
  if (k >= n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) visit(i, i);
    __syncthreads();
    return;
  }
  if (n <= kMostCounted && n <= static_cast<int>(blockDim.x)) return visit_counted(values, n, k, s, visit);
  find_threshold(values, n, k, s);
  const unsigned threshold = s.prefix;
  const int needed = s.needed, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int warps = blockDim.x / 32;
  int above_before = 0, equal_before = 0;
  for (int base = 0; base < n; base += blockDim.x) {
    const int i = base + threadIdx.x;
    const unsigned key = i < n ? ordered(values[i]) : 0u;
    const bool is_above = i < n && key > threshold, is_equal = i < n && key == threshold;
    const unsigned above = __ballot_sync(0xFFFFFFFFu, is_above);
    const unsigned equal = __ballot_sync(0xFFFFFFFFu, is_equal);
    if (lane == 0) {
      s.above[warp] = __popc(above);
      s.equal[warp] = __popc(equal);
    }
    __syncthreads();
    const unsigned lower = (1u << lane) - 1u;
    int above_here = above_before + __popc(above & lower), equal_here = equal_before + __popc(equal & lower);
    for (int w = 0; w < warps; ++w) {
      if (w < warp) {
        above_here += s.above[w];
        equal_here += s.equal[w];
      }
      above_before += s.above[w];
      equal_before += s.equal[w];
    }
    if (is_above || (is_equal && equal_here < needed)) visit(above_here + min(equal_here, needed), i);
    __syncthreads();
  }
}

}  // namespace dsv4::kernels
