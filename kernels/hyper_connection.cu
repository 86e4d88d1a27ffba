#include <cstdint>

#include "kernels/hyper_connection.h"
#include "kernels/reduce.cuh"

namespace dsv4::kernels {
namespace {

constexpr int kThreads = 512;

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

__global__ void __launch_bounds__(kThreads) site_kernel(const HyperConnectionSite s) {
  __shared__ float scratch[32], pre[kMostStreams], comb[kMostStreams * kMostStreams];
  const int b = blockIdx.x, n = s.n, size = s.n * s.d;
  const float* streams = s.streams + static_cast<std::int64_t>(b) * size;
  float squares = 0;
  for (int i = threadIdx.x; i < size; i += kThreads) squares = fmaf(streams[i], streams[i], squares);
  const float inverse = 1.0f / sqrtf(block_sum(squares, scratch) / static_cast<float>(size) + s.rms_eps);

  const bool head = s.post == nullptr;
  const float* logits = s.logits + static_cast<std::int64_t>(b) * (head ? n : (2 + n) * n);
  if (threadIdx.x < 32) {
    const int lane = threadIdx.x;
    if (lane < n) {
      pre[lane] = sigmoid(logits[lane] * inverse * s.scale[0] + s.base[lane]) + s.hc_eps;
      if (!head) {
        const int i = n + lane;
        s.post[b * n + lane] = 2.0f * sigmoid(logits[i] * inverse * s.scale[1] + s.base[i]);
      }
    }
    if (!head) {
      for (int i = lane; i < n * n; i += 32)
        comb[i] = logits[2 * n + i] * inverse * s.scale[2] + s.base[2 * n + i];
      sinkhorn(comb, n, s.sinkhorn_iterations, s.hc_eps);
      for (int i = lane; i < n * n; i += 32) s.comb[b * n * n + i] = comb[i];
    }
  }
  __syncthreads();

  float* collapsed = s.collapsed + static_cast<std::int64_t>(b) * s.d;
  float* normed = s.normed + static_cast<std::int64_t>(b) * s.d;
  squares = 0;
  for (int i = threadIdx.x; i < s.d; i += kThreads) {
    float x = 0;
    for (int k = 0; k < n; ++k) x = fmaf(pre[k], streams[k * s.d + i], x);
    collapsed[i] = x;
    squares = fmaf(x, x, squares);
  }
  const float norm = 1.0f / sqrtf(block_sum(squares, scratch) / static_cast<float>(s.d) + s.rms_eps);
  for (int i = threadIdx.x; i < s.d; i += kThreads) normed[i] = collapsed[i] * norm * s.norm[i];
}

template <int N>
__global__ void expand_kernel(float* streams, const float* y, const float* post, const float* comb, int n,
                              int d) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, b = blockIdx.y;
  if (i >= d) return;
  float* column = streams + static_cast<std::int64_t>(b) * n * d + i;
  float old[N];
#pragma unroll
  for (int j = 0; j < N; ++j) old[j] = j < n ? column[static_cast<std::int64_t>(j) * d] : 0.0f;
  const float value = y[static_cast<std::int64_t>(b) * d + i];
  for (int k = 0; k < n; ++k) {
    float out = post[b * n + k] * value;
#pragma unroll
    for (int j = 0; j < N; ++j)
      if (j < n) out = fmaf(comb[(b * n + j) * n + k], old[j], out);
    column[static_cast<std::int64_t>(k) * d] = out;
  }
}

}  // namespace

void hyper_connection_site(cudaStream_t stream, const HyperConnectionSite& site, int batch) {
  site_kernel<<<batch, kThreads, 0, stream>>>(site);
}

void hyper_connection_expand(cudaStream_t stream, float* streams, const float* y, const float* post,
                             const float* comb, int n, int d, int batch) {
  const dim3 grid((d + 127) / 128, batch);
  if (n <= 4)
    expand_kernel<4><<<grid, 128, 0, stream>>>(streams, y, post, comb, n, d);
  else
    expand_kernel<kMostStreams><<<grid, 128, 0, stream>>>(streams, y, post, comb, n, d);
}

}  // namespace dsv4::kernels
