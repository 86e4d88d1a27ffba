#include <cstdint>

#include "kernels/follow.cuh"
#include "kernels/hyper_connection.h"
#include "kernels/launch.h"
#include "kernels/reduce.cuh"

namespace dsv4::kernels {
namespace {

// Threads of a site's block: the streams of a small model are few vectors, and more warps only wait for one
// another.
constexpr int kFew = 128, kMany = 512;

__device__ float sigmoid(float x) {
  return 1.0f / (1.0f + expf(-x));
}

// One warp; lane i has row i and column i in turn.
__device__ void sinkhorn(float* comb, int n, int iterations, float eps) {
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
__device__ float reciprocal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// Half a round of scaling: own[k] becomes own[k] / (own[k] * <its line of the matrix, other> + eps), so that
// the line has sum 1.
template <int N, bool kColumns>
__device__ void scale_lines(const float (&m)[N * N], const float (&other)[N], float (&own)[N], float eps) {
#pragma unroll
  for (int line = 0; line < N; ++line) {
    float sum = 0;
#pragma unroll
    for (int i = 0; i < N; ++i) sum = fmaf(m[kColumns ? i * N + line : line * N + i], other[i], sum);
    own[line] *= reciprocal(fmaf(own[line], sum, eps));
  }
}

// The same in registers, each lane for itself, on the factors of rows and columns: the rounds follow from one
// another, so that the length of one counts, and a round through shared memory takes several times as long.
// comb is the softmax of its rows.
template <int N>
__device__ void sinkhorn(float (&comb)[N * N], int iterations, float eps) {
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

// The mixer of a site, waiting in shared memory while the streams are summed up.
struct Mixer {
  float logits[(2 + kMostStreams) * kMostStreams], base[(2 + kMostStreams) * kMostStreams], scale[3];
  __device__ float at(int i, int kind, float inverse) const {
    return logits[i] * inverse * scale[kind] + base[i];
  }
};

// One warp: comb.
__device__ void mix(const HyperConnectionSite& s, const Mixer& mixer, float inverse, int b, float* shared) {
  const int lane = threadIdx.x, n = s.n;
  float* out = s.comb + b * n * n;
  if (n == 4) {  // the softmax of the rows by a lane a value
    const float value = mixer.at(2 * 4 + lane % 16, 2, inverse);
    float most = value;
    for (int offset = 1; offset < 4; offset *= 2)
      most = fmaxf(most, __shfl_xor_sync(0xFFFFFFFFu, most, offset));
    const float part = expf(value - most);
    float sum = part;
    for (int offset = 1; offset < 4; offset *= 2) sum += __shfl_xor_sync(0xFFFFFFFFu, sum, offset);
    const float share = fmaf(part, reciprocal(sum), s.hc_eps);
    float comb[16];
#pragma unroll
    for (int i = 0; i < 16; ++i) comb[i] = __shfl_sync(0xFFFFFFFFu, share, i);
    sinkhorn<4>(comb, s.sinkhorn_iterations, s.hc_eps);
#pragma unroll
    for (int i = 0; i < 16; ++i)
      if (lane == i) out[i] = comb[i];
    return;
  }
  for (int i = lane; i < n * n; i += 32) shared[i] = mixer.at(2 * n + i, 2, inverse);
  sinkhorn(shared, n, s.sinkhorn_iterations, s.hc_eps);
  for (int i = lane; i < n * n; i += 32) out[i] = shared[i];
}

// Vectors of W floats; the size is a multiple of W and the address aligned to it.
template <int W>
struct alignas(W * sizeof(float)) Floats {
  float v[W];
};

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

// Two blocks a row: the second makes post and comb, which takes as long as all the rest, beside it.
template <int W, int kThreads>
__global__ void __launch_bounds__(kThreads) site_kernel(const HyperConnectionSite s) {
  let_next_start();
  __shared__ alignas(16) float first_sums[kThreads / 32], second_sums[kThreads / 32];
  __shared__ float pre[kMostStreams], comb[kMostStreams * kMostStreams];
  __shared__ Mixer mixer;
  const int b = blockIdx.x, n = s.n, size = s.n * s.d;
  const bool head = s.post == nullptr;
  const int logits = head ? n : (2 + n) * n;
  if (threadIdx.x < logits) mixer.base[threadIdx.x] = s.base[threadIdx.x];
  if (threadIdx.x < (head ? 1 : 3)) mixer.scale[threadIdx.x] = s.scale[threadIdx.x];
  Floats<W> first_weight{};
  if (blockIdx.y == 0 && threadIdx.x < s.d / W)
    first_weight = reinterpret_cast<const Floats<W>*>(s.norm)[threadIdx.x];
  wait_for_previous();
  if (threadIdx.x < logits)
    mixer.logits[threadIdx.x] = s.logits[static_cast<std::int64_t>(b) * logits + threadIdx.x];
  const float* streams = s.streams + static_cast<std::int64_t>(b) * size;
  const float sum =
      block_sum(sum_of_squares<W, kThreads>(streams, size), first_sums);  // after it the mixer is there
  const float inverse = rsqrtf(sum / static_cast<float>(size) + s.rms_eps);
  if (blockIdx.y == 1) {
    if (threadIdx.x < 32) mix(s, mixer, inverse, b, comb);
    const int i = static_cast<int>(threadIdx.x) - 32;  // the second warp: post
    if (i >= 0 && i < n) s.post[b * n + i] = 2.0f * sigmoid(mixer.at(n + i, 1, inverse));
    return;
  }
  if (threadIdx.x < n) pre[threadIdx.x] = sigmoid(mixer.at(threadIdx.x, 0, inverse)) + s.hc_eps;
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

// What a sub-layer gave at (row, i): a value, or experts' parts that are summed up on the way.
struct Given {
  const float* y;
  __device__ float operator()(int b, int i, int d) const { return y[static_cast<std::int64_t>(b) * d + i]; }
};
struct Summed {
  ExpertSum e;
  __device__ float operator()(int b, int i, int d) const {
    const float* part = e.parts + static_cast<std::int64_t>(b) * (e.slots + 1) * d + i;
    float sum = 0;
#pragma unroll 8
    for (int slot = 0; slot < e.slots; ++slot)
      sum = fmaf(e.shares[b * e.slots + slot], part[static_cast<std::int64_t>(slot) * d], sum);
    const float out = sum + part[static_cast<std::int64_t>(e.slots) * d];
    e.routed[static_cast<std::int64_t>(b) * d + i] = sum;
    e.out[static_cast<std::int64_t>(b) * d + i] = out;
    return out;
  }
};

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
  const float value = y(b, i, d);
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
  const dim3 grid(batch, site.post == nullptr ? 1 : 2);
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
