#include "kernels/router.h"

#include <cstdint>

#include "kernels/launch.h"
#include "kernels/top_k.cuh"

namespace dsv4::kernels {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads) route_kernel(const Router r) {
  follow_previous();
  __shared__ TopKScratch scratch;
  const int b = blockIdx.x;
  const std::int64_t at = static_cast<std::int64_t>(b) * r.experts;
  float *scores = r.scores + at, *biased = r.biased + at, *shares = r.shares + b * r.k;
  int* chosen = r.chosen + b * r.k;
  for (int e = threadIdx.x; e < r.experts; e += kThreads) {
    const float x = r.logits[at + e];
    const float score = sqrtf(x > 20.0f ? x : log1pf(expf(x)));
    scores[e] = score;
    if (r.table == nullptr) biased[e] = score + r.bias[e];
  }
  __syncthreads();
  if (r.table != nullptr) {
    for (int i = threadIdx.x; i < r.k; i += kThreads)
      chosen[i] = r.table[static_cast<std::int64_t>(r.ids[b]) * r.k + i];
  } else if (r.forced.count != nullptr && r.forced.count[b] >= 0) {
    for (int i = threadIdx.x; i < r.k; i += kThreads) chosen[i] = r.forced.chosen[b * r.k + i];
  } else {
    visit_top_k(biased, r.experts, r.k, scratch, [&](int rank, int expert) { chosen[rank] = expert; });
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  float sum = 0;
  for (int i = 0; i < r.k; ++i) sum += scores[chosen[i]];
  for (int i = 0; i < r.k; ++i) shares[i] = scores[chosen[i]] / (sum + 1e-20f) * r.scaling;
}

}  // namespace

void route(cudaStream_t stream, const Router& args, int batch) {
  launch(stream, route_kernel, batch, kThreads, 0, args);
}

}  // namespace dsv4::kernels
