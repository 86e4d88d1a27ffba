#include "kernels/next_token.h"

#include <algorithm>
#include <cmath>

#include "engine/weights/generator.h"
#include "kernels/floats.cuh"
#include "kernels/follow.cuh"
#include "kernels/launch.h"
#include "kernels/top_k.cuh"

namespace dsv4::kernels {
namespace {

constexpr int kThreads = 1024;

struct Best {
  double value;
  int index;
};

__device__ Best better(Best a, Best b) {
  if (b.index < 0) return a;
  if (a.index < 0 || b.value > a.value || (b.value == a.value && b.index < a.index)) return b;
  return a;
}

__device__ Best warp_best(Best v) {
  for (int offset = 16; offset > 0; offset /= 2)
    v = better(
        v, {__shfl_xor_sync(0xFFFFFFFFu, v.value, offset), __shfl_xor_sync(0xFFFFFFFFu, v.index, offset)});
  return v;
}

// Of this thread's share; the first of equals, none where all are NaN or minus infinity.
template <int W>
__device__ Best largest(const float* logits, int vocab) {
  const auto* from = reinterpret_cast<const Floats<W>*>(logits);
  float value = -INFINITY;
  int index = -1;
#pragma unroll 8
  for (int i = threadIdx.x; i < vocab / W; i += blockDim.x) {
    const Floats<W> some = from[i];
#pragma unroll
    for (int j = 0; j < W; ++j)
      if (some.v[j] > value) {
        value = some.v[j];
        index = i * W + j;
      }
  }
  return {static_cast<double>(value), index};
}

__device__ double gumbel(std::uint64_t key, std::uint64_t index) {
  const double uniform = (static_cast<double>(element_bits(key, index) >> 11) + 0.5) * 0x1p-53;
  return -log(-log(uniform));
}

__global__ void __launch_bounds__(kThreads) next_token_kernel(const NextToken a) {
  let_next_start();
  __shared__ TopKScratch scratch;
  __shared__ Best warps[kThreads / 32];
  const int b = blockIdx.x, position = a.positions[b];
  const RowSampling sampling = a.sampling[b];
  const float* logits = a.logits + static_cast<std::int64_t>(b) * a.vocab;
  Best best{0, -1};
  wait_for_previous();
  if (sampling.temperature == 0) {
    best = a.vocab % 4 == 0 ? largest<4>(logits, a.vocab) : largest<1>(logits, a.vocab);
  } else {
    const auto draw = [&](int, int i) {
      const std::uint64_t at = static_cast<std::uint64_t>(position) * a.vocab + i;
      best = better(best, {logits[i] / sampling.temperature + gumbel(sampling.key, at), i});
    };
    visit_top_k(logits, a.vocab, sampling.top_k > 0 ? sampling.top_k : a.vocab, scratch, draw);
  }
  best = warp_best(best);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = best;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  best = warp_best(threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : Best{0, -1});
  if (threadIdx.x != 0) return;
  const int token = best.index < 0 ? 0 : best.index;  // logits of NaN choose nothing
  a.sampled[b] = token;
  if (a.ring != nullptr) {
    const unsigned step = a.ring_step[b];
    a.ring[static_cast<std::int64_t>(step % a.ring_slots) * a.ring_rows + b] = token;
    a.ring_step[b] = step + 1;
  }
  if (!sampling.active) return;
  const int next = min(position + 1, a.max_positions - 1);
  a.ids[b] = token;
  a.positions[b] = next;
}

}  // namespace

void next_token(cudaStream_t stream, const NextToken& args, int batch) {
  launch(stream, next_token_kernel, batch, std::min(kThreads, (args.vocab + 31) / 32 * 32), 0, args);
}

}  // namespace dsv4::kernels
