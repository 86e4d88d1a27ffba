#include "kernels/boundary.h"

#include <cstdint>
#include <type_traits>

#include "kernels/follow.cuh"
#include "kernels/hyper_connection.cuh"
#include "kernels/launch.h"
#include "kernels/reduce.cuh"
#include "kernels/sub_layer_value.cuh"

namespace dsv4::kernels {
namespace {

constexpr int kN = kBoundaryStreams, kLogits = (2 + kN) * kN, kProducts = kBoundaryProducts;

struct Nothing {};

// Sums of 2 kHalf values over a warp, for 32: lane l gets that of value l, which it finds in v[0].
template <int kHalf = 16>
__device__ inline void warp_sums(float (&v)[32]) {
  const bool upper = (threadIdx.x & kHalf) != 0;
#pragma unroll
  for (int i = 0; i < kHalf; ++i) {
    const float keep = upper ? v[i + kHalf] : v[i], give = upper ? v[i] : v[i + kHalf];
    v[i] = keep + __shfl_xor_sync(0xFFFFFFFFu, give, kHalf);
  }
  if constexpr (kHalf > 1) warp_sums<kHalf / 2>(v);
}

// A block is 32 channels of one row, a warp one stream of them.
template <class Value, int kRows>
__global__ void __launch_bounds__(32 * kN) boundary_kernel(const Boundary a, const Value y) {
  constexpr bool kEnds = !std::is_same_v<Value, Nothing>;
  __shared__ float sums[kN][32];
  let_next_start();
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, b = blockIdx.y;
  const int channel = blockIdx.x * kBoundaryChannels + lane;
  float weight[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r)
    weight[r] = __ldg(a.fn + (static_cast<std::int64_t>(r) * kN + warp) * a.d + channel);
  wait_for_previous();

  float* const column = a.streams + static_cast<std::int64_t>(b) * kN * a.d + channel;
  float now[kN];
#pragma unroll
  for (int k = 0; k < kN; ++k) now[k] = column[static_cast<std::int64_t>(k) * a.d];
  if constexpr (kEnds) {
    float old[kN];
#pragma unroll
    for (int k = 0; k < kN; ++k) old[k] = now[k];
    const float value = y(b, channel, a.d, warp == 0);
#pragma unroll
    for (int k = 0; k < kN; ++k) {
      now[k] = a.post[b * kN + k] * value;
#pragma unroll
      for (int j = 0; j < kN; ++j) now[k] = fmaf(a.comb[(b * kN + j) * kN + k], old[j], now[k]);
    }
    __syncthreads();  // all have read
  }
  // Own stream first, then the next ones: warp w has the products (w, w), (w, w + 1) and, of the lower two,
  // (w, w + 2), in this order in `parts`.
  float own[kN];
#pragma unroll
  for (int i = 0; i < kN; ++i) {
    const int k = (warp + i) % kN;
    own[i] = k == 0 ? now[0] : k == 1 ? now[1] : k == 2 ? now[2] : now[3];
  }
  if constexpr (kEnds) column[static_cast<std::int64_t>(warp) * a.d] = own[0];

  float v[32] = {};
#pragma unroll
  for (int r = 0; r < kRows; ++r) v[r] = weight[r] * own[0];
#pragma unroll
  for (int i = 0; i < 3; ++i) v[kRows + i] = own[0] * own[i];
  warp_sums(v);
  sums[warp][lane] = v[0];
  __syncthreads();
  const int value = threadIdx.x;
  if (value >= kRows + kProducts) return;
  float part = 0;
  if (value < kRows) {
#pragma unroll
    for (int k = 0; k < kN; ++k) part += sums[k][value];
  } else {
    const int product = value - kRows;
    part = sums[product % kN][kRows + product / kN];
  }
  a.parts[(static_cast<std::int64_t>(b) * (kRows + kProducts) + value) * gridDim.x + blockIdx.x] = part;
}

constexpr int kThreads = 256;

__device__ inline double warp_sum(double v) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(0xFFFFFFFFu, v, offset);
  return v;
}

// A block is 256 channels of one row; each makes the same scalars of the parts.
template <int kRows>
__global__ void __launch_bounds__(kThreads)
    boundary_site_kernel(const HyperConnectionSite s, float* logits, const float* all_parts) {
  constexpr int kValues = kRows + kProducts, kWarps = kThreads / 32;
  __shared__ double sums[kValues];
  let_next_start();
  const int b = blockIdx.y, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int channel = blockIdx.x * kThreads + threadIdx.x, blocks = s.d / kBoundaryChannels;
  const bool inside = channel < s.d;
  const float weight = inside ? s.norm[channel] : 0.0f;
  const float scale = s.scale[0];
  float base[kN];
#pragma unroll
  for (int k = 0; k < kN; ++k) base[k] = s.base[k];
  wait_for_previous();
  float x[kN];
#pragma unroll
  for (int k = 0; k < kN; ++k)
    x[k] = inside ? s.streams[(static_cast<std::int64_t>(b) * kN + k) * s.d + channel] : 0.0f;
  const float* const parts = all_parts + static_cast<std::int64_t>(b) * kValues * blocks;
#pragma unroll
  for (int i = 0; i < (kValues + kWarps - 1) / kWarps; ++i) {
    const int value = i * kWarps + warp;
    if (value >= kValues) break;
    double sum = 0;
#pragma unroll 4
    for (int j = lane; j < blocks; j += 32) sum += parts[value * blocks + j];
    sum = warp_sum(sum);
    if (lane == 0) sums[value] = sum;
  }
  __syncthreads();
  double squares = 0;
#pragma unroll
  for (int k = 0; k < kN; ++k) squares += sums[kRows + k];
  const float inverse = rsqrtf(static_cast<float>(squares / (kN * s.d)) + s.rms_eps);
  float pre[kN], collapsed = 0;
#pragma unroll
  for (int k = 0; k < kN; ++k) {
    pre[k] = sigmoid(fmaf(static_cast<float>(sums[k]), inverse * scale, base[k])) + s.hc_eps;
    collapsed = fmaf(pre[k], x[k], collapsed);
  }
  double together = 0;
#pragma unroll
  for (int product = 0; product < kProducts; ++product) {
    const int j = product % kN, k = (j + product / kN) % kN;
    together += (j == k ? 1.0 : 2.0) * sums[kRows + product] * pre[j] * pre[k];
  }
  const float norm = rsqrtf(fmaxf(static_cast<float>(together / s.d), 0.0f) + s.rms_eps);
  if (inside) {
    s.collapsed[static_cast<std::int64_t>(b) * s.d + channel] = collapsed;
    s.normed[static_cast<std::int64_t>(b) * s.d + channel] = collapsed * norm * weight;
  }
  if (blockIdx.x != 0) return;
  if (threadIdx.x < kRows) logits[b * kRows + threadIdx.x] = static_cast<float>(sums[threadIdx.x]);
  if (threadIdx.x == 0) s.inverse[b] = inverse;
}

template <class Value>
void start(cudaStream_t stream, const Boundary& a, const Value& y, int batch) {
  const dim3 grid(a.d / kBoundaryChannels, batch);
  if (a.head)
    launch(stream, boundary_kernel<Value, kN>, grid, 32 * kN, 0, a, y);
  else
    launch(stream, boundary_kernel<Value, kLogits>, grid, 32 * kN, 0, a, y);
}

}  // namespace

void boundary(cudaStream_t stream, const Boundary& args, int batch) {
  start(stream, args, Nothing{}, batch);
}
void boundary(cudaStream_t stream, const Boundary& args, const float* y, int batch) {
  start(stream, args, Given{y}, batch);
}
void boundary(cudaStream_t stream, const Boundary& args, const ExpertSum& y, int batch) {
  start(stream, args, Summed{y}, batch);
}

void boundary_site(cudaStream_t stream, const HyperConnectionSite& site, float* logits, const float* parts,
                   int batch) {
  const dim3 grid((site.d + kThreads - 1) / kThreads, batch);
  if (site.head)
    launch(stream, boundary_site_kernel<kN>, grid, kThreads, 0, site, logits, parts);
  else
    launch(stream, boundary_site_kernel<kLogits>, grid, kThreads, 0, site, logits, parts);
}

}  // namespace dsv4::kernels
