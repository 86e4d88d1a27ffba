#include "kernels/attention.h"

#include <cmath>
#include <cstdint>

#include "kernels/follow.cuh"
#include "kernels/launch.h"
#include "kernels/reduce.cuh"
#include "kernels/rotate.cuh"
#include "kernels/shared_memory.h"

namespace dsv4::kernels {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int kTogether = 4;  // keys that a warp has under way

int most_keys(const Attention& a) {
  return a.window_slots + (a.entries == nullptr ? 0 : a.chosen != nullptr ? a.width : a.max_entries);
}

int shared_bytes(int dim, int keys) {
  return (dim + keys) * static_cast<int>(sizeof(float));
}

// Vectors of W floats; the size is a multiple of W and the address aligned to it.
template <int W>
struct alignas(W * sizeof(float)) Floats {
  float v[W];
};

// A block is one head of one row.
template <int W>
__global__ void __launch_bounds__(kThreads) attend_kernel(const Attention a) {
  extern __shared__ float out[];
  float* weight = out + a.dim;  // of each key
  __shared__ float tops[kWarps], totals[kWarps];
  __shared__ Floats<W> part[kThreads];
  let_next_start();
  const int head = blockIdx.x, b = blockIdx.y, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int position = a.positions[b], in_window = min(position + 1, a.window_slots), width = a.dim / W;
  const std::int64_t at = (static_cast<std::int64_t>(b) * a.heads + head) * a.dim;
  const float* window = a.window + static_cast<std::int64_t>(b) * a.window_slots * a.dim;
  const float* entries = a.entries + static_cast<std::int64_t>(b) * a.max_entries * a.dim;
  const int* chosen = a.chosen == nullptr ? nullptr : a.chosen + static_cast<std::int64_t>(b) * a.width;
  const float sink = a.sink[head], scale = 1.0f / sqrtf(static_cast<float>(a.dim));
  const int groups = max(1, kThreads / width), group = threadIdx.x / width,
            of_group = threadIdx.x - group * width;
  const int plain = a.dim - 2 * a.pairs, own_pair = threadIdx.x;
  const float2 own_turn = own_pair < a.pairs ? turn_of(position, a.frequencies[own_pair]) : float2{};
  const int closed = a.entries == nullptr ? 0 : min((position + 1) / a.ratio, a.max_entries);
  wait_for_previous();

  int compressed = 0;
  if (chosen != nullptr)  // the -1 come last
    for (int i = 0; i < a.width; i += 32)
      compressed += __popc(__ballot_sync(0xFFFFFFFFu, i + lane < a.width && chosen[i + lane] >= 0));
  else
    compressed = closed;
  const int keys = in_window + compressed;
  const auto key = [&](int j) {
    const int entry = j - in_window;
    return reinterpret_cast<const Floats<W>*>(
        entry < 0 ? window + static_cast<std::int64_t>(j) * a.dim
                  : entries + static_cast<std::int64_t>(chosen != nullptr ? chosen[entry] : entry) * a.dim);
  };

  const auto* q = reinterpret_cast<const Floats<W>*>(a.q + at);
  float top = sink;
  for (int first = warp; first < keys; first += kWarps * kTogether) {
    const Floats<W>* k[kTogether];
    float product[kTogether] = {};
#pragma unroll
    for (int i = 0; i < kTogether; ++i) k[i] = key(min(first + i * kWarps, keys - 1));
#pragma unroll 2
    for (int d = lane; d < width; d += 32) {
      const Floats<W> ours = q[d];
#pragma unroll
      for (int i = 0; i < kTogether; ++i) {
        const Floats<W> theirs = k[i][d];
#pragma unroll
        for (int w = 0; w < W; ++w) product[i] = fmaf(ours.v[w], theirs.v[w], product[i]);
      }
    }
#pragma unroll
    for (int i = 0; i < kTogether; ++i) product[i] = warp_sum(product[i]) * scale;
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      const int j = first + i * kWarps;
      if (lane == i && j < keys) weight[j] = product[i];
      top = fmaxf(top, product[i]);  // past the end it is the last key's again
    }
  }
  if (lane == 0) tops[warp] = top;
  __syncthreads();
  top = warp_max(tops[lane % kWarps]);
  float total = 0;
  for (int j = threadIdx.x; j < keys; j += kThreads) total += weight[j] = expf(weight[j] - top);
  total = warp_sum(total);
  if (lane == 0) totals[warp] = total;
  __syncthreads();
  total = warp_sum(lane < kWarps ? totals[lane] : 0.0f) + expf(sink - top);
  const float share_of_one = 1.0f / total;

  // As many groups of threads as fit take turns at the keys; a thread has W dimensions of it.
  for (int base = 0; base < width;
       base += kThreads) {  // once, where a head has no more than kThreads W dimensions
    const int d = base + (groups > 1 ? of_group : threadIdx.x);
    Floats<W> sum{};
    if (d < width && (groups == 1 || group < groups)) {
#pragma unroll 8
      for (int j = groups == 1 ? 0 : group; j < keys; j += groups) {
        const Floats<W> value = key(j)[d];
        const float share = weight[j];
#pragma unroll
        for (int w = 0; w < W; ++w) sum.v[w] = fmaf(share, value.v[w], sum.v[w]);
      }
    }
    part[threadIdx.x] = sum;
    __syncthreads();
    const auto* parts = reinterpret_cast<const float*>(part);
    for (int i = threadIdx.x; i < min(width - base, kThreads) * W; i += kThreads) {
      float value = 0;
#pragma unroll 8
      for (int g = 0; g < groups; ++g) value += parts[g * width * W + i];
      out[base * W + i] = value * share_of_one;
    }
    __syncthreads();
  }
  for (int d = threadIdx.x; d < plain; d += kThreads) a.out[at + d] = out[d];
  for (int i = threadIdx.x; i < a.pairs; i += kThreads) {
    const int d = plain + 2 * i;
    const float2 turned =
        rotated(out[d], out[d + 1], i == own_pair ? own_turn : turn_of(position, a.frequencies[i]), true);
    a.out[at + d] = turned.x;
    a.out[at + d + 1] = turned.y;
  }
}

}  // namespace

cudaError_t prepare_attention(int dim, int most_keys) {
  const int bytes = shared_bytes(dim, most_keys);
  return dim % 4 == 0 ? allow_shared_memory(attend_kernel<4>, bytes)
                      : allow_shared_memory(attend_kernel<1>, bytes);
}

void attend(cudaStream_t stream, const Attention& args, int batch) {
  launch(stream, args.dim % 4 == 0 ? attend_kernel<4> : attend_kernel<1>, dim3(args.heads, batch), kThreads,
         shared_bytes(args.dim, most_keys(args)), args);
}

}  // namespace dsv4::kernels
