#include "kernels/attention.h"

#include <cmath>
#include <cstdint>

#include "kernels/floats.cuh"
#include "kernels/follow.cuh"
#include "kernels/hyper_connection.cuh"
#include "kernels/launch.h"
#include "kernels/pages.cuh"
#include "kernels/reduce.cuh"
#include "kernels/rotate.cuh"
#include "kernels/shared_memory.h"

namespace dsv4::kernels {
namespace {

// A warp's head of q, normalised over all of it; its trailing pairs turned, which lie in a lane's own vector.
template <int W, int V>
__device__ void prepare(Floats<W> (&q)[V], const Attention& a, int position, int lane) {
  if constexpr (W == 4) {
    float squares = 0;
#pragma unroll
    for (int v = 0; v < V; ++v)
#pragma unroll
      for (int w = 0; w < W; ++w) squares = fmaf(q[v].v[w], q[v].v[w], squares);
    const float scale = rsqrtf(warp_sum(squares) / static_cast<float>(a.dim) + a.eps);
    const int plain = a.dim - 2 * a.pairs;
#pragma unroll
    for (int v = 0; v < V; ++v) {
#pragma unroll
      for (int w = 0; w < W; ++w) q[v].v[w] *= scale;
#pragma unroll
      for (int w = 0; w < W; w += 2) {
        const int d = (lane + 32 * v) * W + w;
        if (d < plain || d >= a.dim) continue;
        const float2 turned =
            rotated(q[v].v[w], q[v].v[w + 1], turn_of(position, a.frequencies[(d - plain) / 2]), false);
        q[v].v[w] = turned.x;
        q[v].v[w + 1] = turned.y;
      }
    }
  }
}

// A block is one head of one lane. Keys come in the order of their positions, so that sums do not depend on
// where they lie. Each warp takes its share of the keys, T at once, and keeps what it has seen so far in
// registers: a lane has V vectors of W dimensions; a sum is relative to the largest score so far (the softmax
// of one pass). The warps are put together at the end, with one barrier.
template <int W, int V, int T, int kThreads>
__global__ void __launch_bounds__(kThreads)
    attend_kernel(const Attention a, const HyperConnectionMix beside) {
  constexpr int kWarps = kThreads / 32;
  extern __shared__ float partial[];  // [kWarps, dim]
  __shared__ float tops[kWarps], totals[kWarps];
  let_next_start();
  if (static_cast<int>(blockIdx.x) == a.heads) return mix_row(beside, blockIdx.y);
  const int head = blockIdx.x, b = blockIdx.y, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int position = a.positions[b], row = a.rows != nullptr ? a.rows[b] : b, width = a.dim / W;
  const int in_window = row < 0 ? 0 : min(position + 1, a.window_tokens);
  const int oldest = (position + 1 - in_window) % a.window_slots;
  const std::int64_t at = (static_cast<std::int64_t>(b) * a.heads + head) * a.dim;
  const float* window = a.window + static_cast<std::int64_t>(row) * a.window_slots * a.dim;
  const int* chosen = a.chosen == nullptr ? nullptr : a.chosen + static_cast<std::int64_t>(b) * a.width;
  const float sink = a.sink[head], scale = rsqrtf(static_cast<float>(a.dim));
  const int closed = a.entries == nullptr || row < 0 ? 0 : min((position + 1) / a.ratio, a.max_entries);
  const int plain = a.dim - 2 * a.pairs, own_pair = static_cast<int>(threadIdx.x) - plain;
  const float2 own_turn =
      own_pair >= 0 && own_pair < a.pairs ? turn_of(position, a.frequencies[own_pair]) : float2{};
  wait_for_previous();

  Floats<W> q[V], sum[V]{};
#pragma unroll
  for (int v = 0; v < V; ++v)
    q[v] = lane + 32 * v < width ? reinterpret_cast<const Floats<W>*>(a.q + at)[lane + 32 * v] : Floats<W>{};
  if (a.prepares_q) {
    prepare<W, V>(q, a, position, lane);
    if (a.prepared_q != nullptr && warp == 0)
#pragma unroll
      for (int v = 0; v < V; ++v)
        if (lane + 32 * v < width) reinterpret_cast<Floats<W>*>(a.prepared_q + at)[lane + 32 * v] = q[v];
  }
  int compressed = chosen != nullptr ? min(closed, a.width) : closed;
  if (chosen != nullptr && compressed > 0 &&
      chosen[compressed - 1] < 0) {  // forced to fewer: the -1 come last
    compressed = 0;
    for (int i = 0; i < a.width; i += 32)
      compressed += __popc(__ballot_sync(0xFFFFFFFFu, i + lane < a.width && chosen[i + lane] >= 0));
  }
  const int keys = in_window + compressed;
  float top = -INFINITY, total = 0;
#pragma unroll 1
  for (int first = warp * T; first < keys; first += kWarps * T) {
    Floats<W> k[T][V];
#pragma unroll
    for (int i = 0; i < T; ++i) {
      const int j = min(first + i, keys - 1), entry = j - in_window;
      const float* key;
      if (entry < 0) {
        const int slot = oldest + j < a.window_slots ? oldest + j : oldest + j - a.window_slots;
        key = window + static_cast<std::int64_t>(slot) * a.dim;
      } else {
        key = a.entries + entry_index(a.pages, row, chosen != nullptr ? chosen[entry] : entry) * a.dim;
      }
      const auto* from = reinterpret_cast<const Floats<W>*>(key);
#pragma unroll
      for (int v = 0; v < V; ++v) k[i][v] = lane + 32 * v < width ? from[lane + 32 * v] : Floats<W>{};
    }
    float score[T] = {}, most = top;
#pragma unroll
    for (int i = 0; i < T; ++i)
#pragma unroll
      for (int v = 0; v < V; ++v)
#pragma unroll
        for (int w = 0; w < W; ++w) score[i] = fmaf(q[v].v[w], k[i][v].v[w], score[i]);
#pragma unroll
    for (int i = 0; i < T; ++i) {
      score[i] = warp_sum(score[i]) * scale;
      if (first + i >= keys) score[i] = -INFINITY;
      most = fmaxf(most, score[i]);
    }
    const float kept = expf(top - most);  // 0 the first time
    top = most;
    total *= kept;
#pragma unroll
    for (int v = 0; v < V; ++v)
#pragma unroll
      for (int w = 0; w < W; ++w) sum[v].v[w] *= kept;
#pragma unroll
    for (int i = 0; i < T; ++i) {
      const float share = expf(score[i] - top);
      total += share;
#pragma unroll
      for (int v = 0; v < V; ++v)
#pragma unroll
        for (int w = 0; w < W; ++w) sum[v].v[w] = fmaf(share, k[i][v].v[w], sum[v].v[w]);
    }
  }
#pragma unroll
  for (int v = 0; v < V; ++v)
    if (lane + 32 * v < width) reinterpret_cast<Floats<W>*>(partial + warp * a.dim)[lane + 32 * v] = sum[v];
  if (lane == 0) {
    tops[warp] = top;
    totals[warp] = total;
  }
  __syncthreads();

  top = sink;
#pragma unroll
  for (int w = 0; w < kWarps; ++w) top = fmaxf(top, tops[w]);
  const float own = expf(tops[lane % kWarps] - top);  // 0 of a warp without a key
  total = expf(sink - top);
  float part[kWarps];
#pragma unroll
  for (int w = 0; w < kWarps; ++w) {
    part[w] = __shfl_sync(0xFFFFFFFFu, own, w);
    total = fmaf(totals[w], part[w], total);
  }
  const float inverse = 1.0f / total;
  const auto value = [&](int d) {
    float together = 0;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) together = fmaf(partial[w * a.dim + d], part[w], together);
    return together * inverse;
  };
  for (int i = threadIdx.x; i < plain + a.pairs; i += kThreads) {
    if (i < plain) {
      a.out[at + i] = value(i);
      continue;
    }
    const int pair = i - plain, d = plain + 2 * pair;
    const float2 turned = rotated(value(d), value(d + 1),
                                  pair == own_pair ? own_turn : turn_of(position, a.frequencies[pair]), true);
    a.out[at + d] = turned.x;
    a.out[at + d + 1] = turned.y;
  }
}

struct Kernel {
  void (*launched)(Attention, HyperConnectionMix);
  int threads;
  int shared_bytes(int dim) const { return threads / 32 * dim * static_cast<int>(sizeof(float)); }
};
Kernel kernel_for(int dim) {
  if (dim % 4 != 0) return {attend_kernel<1, kMostHeadDim / 32, 2, 256>, 256};
  if (dim <= 128) return {attend_kernel<4, 1, 4, 256>, 256};
  if (dim <= 512) return {attend_kernel<4, 4, 4, 512>, 512};
  return {attend_kernel<4, kMostHeadDim / 128, 2, 256>, 256};
}

}  // namespace

cudaError_t prepare_attention(int dim) {
  const Kernel kernel = kernel_for(dim);
  return allow_shared_memory(kernel.launched, kernel.shared_bytes(dim));
}

void attend(cudaStream_t stream, const Attention& args, int batch, const HyperConnectionMix& beside) {
  const Kernel kernel = kernel_for(args.dim);
  launch(stream, kernel.launched, dim3(args.heads + (beside.post != nullptr ? 1 : 0), batch), kernel.threads,
         kernel.shared_bytes(args.dim), args, beside);
}

}  // namespace dsv4::kernels
