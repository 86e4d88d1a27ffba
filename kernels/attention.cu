#include "kernels/attention.h"

#include <cmath>
#include <cstdint>

#include "kernels/launch.h"
#include "kernels/reduce.cuh"
#include "kernels/rotate.cuh"
#include "kernels/shared_memory.h"

namespace dsv4::kernels {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;

int most_keys(const Attention& a) {
  return a.window_slots + (a.entries == nullptr ? 0 : a.chosen != nullptr ? a.width : a.max_entries);
}

int shared_bytes(int dim, int keys) {
  return (2 * dim + 2 * keys) * static_cast<int>(sizeof(float));
}

__global__ void __launch_bounds__(kThreads) attend_kernel(const Attention a, int most) {
  follow_previous();
  extern __shared__ float shared[];
  __shared__ float scratch[32];
  __shared__ int chosen_count;
  float *q = shared, *out = q + a.dim, *weight = out + a.dim;
  int* entry = reinterpret_cast<int*>(weight + most);  // of the keys after the window's
  const int head = blockIdx.x, b = blockIdx.y, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int position = a.positions[b], in_window = min(position + 1, a.window_slots);
  const std::int64_t at = (static_cast<std::int64_t>(b) * a.heads + head) * a.dim;
  const float* window = a.window + static_cast<std::int64_t>(b) * a.window_slots * a.dim;
  const float* entries = a.entries + static_cast<std::int64_t>(b) * a.max_entries * a.dim;

  if (threadIdx.x == 0) chosen_count = 0;
  for (int d = threadIdx.x; d < a.dim; d += kThreads) q[d] = a.q[at + d];
  int compressed = 0;
  __syncthreads();
  if (a.entries != nullptr) {
    const int closed = min((position + 1) / a.ratio, a.max_entries);
    if (a.chosen != nullptr) {  // the -1 come last
      const int* chosen = a.chosen + static_cast<std::int64_t>(b) * a.width;
      for (int i = threadIdx.x; i < a.width; i += kThreads) {
        entry[i] = chosen[i];
        if (chosen[i] >= 0) atomicAdd(&chosen_count, 1);
      }
      __syncthreads();
      compressed = chosen_count;
    } else {
      for (int i = threadIdx.x; i < closed; i += kThreads) entry[i] = i;
      compressed = closed;
    }
  }
  __syncthreads();
  const int keys = in_window + compressed;
  const auto key = [&](int j) {
    return j < in_window ? window + static_cast<std::int64_t>(j) * a.dim
                         : entries + static_cast<std::int64_t>(entry[j - in_window]) * a.dim;
  };

  const float scale = 1.0f / sqrtf(static_cast<float>(a.dim));
  float most_here = a.sink[head];
  for (int j = warp; j < keys; j += kWarps) {
    const float* k = key(j);
    float product = 0;
#pragma unroll 8
    for (int d = lane; d < a.dim; d += 32) product = fmaf(q[d], k[d], product);
    product = warp_sum(product) * scale;
    if (lane == 0) weight[j] = product;
    most_here = fmaxf(most_here, product);
  }
  const float top = block_max(most_here, scratch);
  float total = 0;
  for (int j = threadIdx.x; j < keys; j += kThreads) {
    weight[j] = expf(weight[j] - top);
    total += weight[j];
  }
  total = block_sum(total, scratch) + expf(a.sink[head] - top);

  for (int d = threadIdx.x; d < a.dim; d += kThreads) {
    float sum = 0;
#pragma unroll 8
    for (int j = 0; j < keys; ++j) sum = fmaf(weight[j], key(j)[d], sum);
    out[d] = sum / total;
  }
  __syncthreads();
  const int plain = a.dim - 2 * a.pairs;
  for (int d = threadIdx.x; d < plain; d += kThreads) a.out[at + d] = out[d];
  for (int i = threadIdx.x; i < a.pairs; i += kThreads) {
    const int d = plain + 2 * i;
    const float2 turned = rotated(out[d], out[d + 1], position, a.frequencies[i], true);
    a.out[at + d] = turned.x;
    a.out[at + d + 1] = turned.y;
  }
}

}  // namespace

cudaError_t prepare_attention(int dim, int most_keys) {
  return allow_shared_memory(attend_kernel, shared_bytes(dim, most_keys));
}

void attend(cudaStream_t stream, const Attention& args, int batch) {
  const int keys = most_keys(args);
  launch(stream, attend_kernel, dim3(args.heads, batch), kThreads, shared_bytes(args.dim, keys), args, keys);
}

}  // namespace dsv4::kernels
