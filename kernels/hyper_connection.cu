#include <cstdint>

#include "kernels/floats.cuh"
#include "kernels/follow.cuh"
#include "kernels/hyper_connection.cuh"
#include "kernels/hyper_connection.h"
#include "kernels/launch.h"
#include "kernels/reduce.cuh"
#include "kernels/sub_layer_value.cuh"

namespace dsv4::kernels {
namespace {

// Threads of a site's block: the streams of a small model are few vectors, and more warps only wait for one
// another.
constexpr int kFew = 128, kMany = 512;

template <int W, int kThreads>
__device__ float sum_of_squares(const float* streams, int size) {
  float squares = 0;
  const auto* from = reinterpret_cast<const Floats<W>*>(streams);
#pragma unroll 4
  for (int i = threadIdx.x; i < size / W; i += kThreads) {
    const Floats<W> x = from[i];
#pragma unroll
    for (int j = 0; j < W; ++j) squares = fmaf(x.v[j], x.v[j], squares);
  }
  return squares;
}

// The collapsed vector, of which the thread's first part goes to `own`; gives back this thread's part of its
// squares.
template <int W, int kThreads>
__device__ float collapse(const float* streams, const float* pre, int n, int d, float* collapsed,
                          Floats<W>& own) {
  float squares = 0;
  const auto* from = reinterpret_cast<const Floats<W>*>(streams);
  auto* to = reinterpret_cast<Floats<W>*>(collapsed);
  const int width = d / W;
  for (int i = threadIdx.x; i < width; i += kThreads) {
    Floats<W> x{};
#pragma unroll 4
    for (int k = 0; k < n; ++k) {
      const Floats<W> stream = from[k * width + i];
#pragma unroll
      for (int j = 0; j < W; ++j) x.v[j] = fmaf(pre[k], stream.v[j], x.v[j]);
    }
    to[i] = x;
    if (i < kThreads) own = x;
#pragma unroll
    for (int j = 0; j < W; ++j) squares = fmaf(x.v[j], x.v[j], squares);
  }
  return squares;
}

// A block is one row.
template <int W, int kThreads>
__global__ void __launch_bounds__(kThreads) site_kernel(const HyperConnectionSite s) {
  let_next_start();
  __shared__ alignas(16) float first_sums[kThreads / 32], second_sums[kThreads / 32];
  __shared__ float pre[kMostStreams];
  const int b = blockIdx.x, n = s.n, size = s.n * s.d;
  const int logits = s.head ? n : (2 + n) * n, own_stream = min(static_cast<int>(threadIdx.x), n - 1);
  const float scale = s.scale[0], base = s.base[own_stream];
  Floats<W> first_weight{};
  if (threadIdx.x < s.d / W) first_weight = reinterpret_cast<const Floats<W>*>(s.norm)[threadIdx.x];
  wait_for_previous();
  const float logit = s.logits[static_cast<std::int64_t>(b) * logits + own_stream];
  const float* streams = s.streams + static_cast<std::int64_t>(b) * size;
  const float sum = block_sum(sum_of_squares<W, kThreads>(streams, size), first_sums);
  const float inverse = rsqrtf(sum / static_cast<float>(size) + s.rms_eps);
  if (threadIdx.x < n) pre[threadIdx.x] = sigmoid(fmaf(logit, inverse * scale, base)) + s.hc_eps;
  if (threadIdx.x == 0) s.inverse[b] = inverse;
  __syncthreads();

  float* collapsed = s.collapsed + static_cast<std::int64_t>(b) * s.d;
  float* normed = s.normed + static_cast<std::int64_t>(b) * s.d;
  Floats<W> own{};
  const float squares = block_sum(collapse<W, kThreads>(streams, pre, n, s.d, collapsed, own), second_sums);
  const float norm = rsqrtf(squares / static_cast<float>(s.d) + s.rms_eps);
  for (int i = threadIdx.x; i < s.d / W; i += kThreads) {  // of its own values alone
    const Floats<W> x = i < kThreads ? own : reinterpret_cast<const Floats<W>*>(collapsed)[i];
    const Floats<W> weight = i < kThreads ? first_weight : reinterpret_cast<const Floats<W>*>(s.norm)[i];
    Floats<W> out;
#pragma unroll
    for (int j = 0; j < W; ++j) out.v[j] = x.v[j] * norm * weight.v[j];
    reinterpret_cast<Floats<W>*>(normed)[i] = out;
  }
}

// N streams at most; exactly N where kExact.
template <int N, bool kExact, class Value>
__global__ void expand_kernel(float* streams, const Value y, const float* post, const float* comb,
                              int streams_here, int d) {
  const int n = kExact ? N : streams_here;
  let_next_start();
  wait_for_previous();
  const int i = blockIdx.x * blockDim.x + threadIdx.x, b = blockIdx.y;
  if (i >= d) return;
  float* column = streams + static_cast<std::int64_t>(b) * n * d + i;
  float old[N];
#pragma unroll
  for (int j = 0; j < N; ++j) old[j] = j < n ? column[static_cast<std::int64_t>(j) * d] : 0.0f;
  const float value = y(b, i, d, true);
  for (int k = 0; k < n; ++k) {
    float out = post[b * n + k] * value;
#pragma unroll
    for (int j = 0; j < N; ++j)
      if (j < n) out = fmaf(comb[(b * n + j) * n + k], old[j], out);
    column[static_cast<std::int64_t>(k) * d] = out;
  }
}

template <class Value>
void expand(cudaStream_t stream, float* streams, const Value& y, const float* post, const float* comb, int n,
            int d, int batch) {
  const dim3 grid((d + 127) / 128, batch);
  if (n == 4)
    launch(stream, expand_kernel<4, true, Value>, grid, 128, 0, streams, y, post, comb, n, d);
  else
    launch(stream, expand_kernel<kMostStreams, false, Value>, grid, 128, 0, streams, y, post, comb, n, d);
}

}  // namespace

void hyper_connection_site(cudaStream_t stream, const HyperConnectionSite& site, int batch) {
  const dim3 grid(batch);
  if (site.d % 4 != 0)
    launch(stream, site_kernel<1, kMany>, grid, kMany, 0, site);
  else if (site.n * site.d / 4 <= 4 * kFew)
    launch(stream, site_kernel<4, kFew>, grid, kFew, 0, site);
  else
    launch(stream, site_kernel<4, kMany>, grid, kMany, 0, site);
}

void hyper_connection_expand(cudaStream_t stream, float* streams, const float* y, const float* post,
                             const float* comb, int n, int d, int batch) {
  expand(stream, streams, Given{y}, post, comb, n, d, batch);
}

void hyper_connection_expand(cudaStream_t stream, float* streams, const ExpertSum& y, const float* post,
                             const float* comb, int n, int d, int batch) {
  expand(stream, streams, Summed{y}, post, comb, n, d, batch);
}

}  // namespace dsv4::kernels
