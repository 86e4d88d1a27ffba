#include "kernels/router.h"

#include <algorithm>
#include <cstdint>

#include "kernels/follow.cuh"
#include "kernels/launch.h"
#include "kernels/reduce.cuh"
#include "kernels/top_k.cuh"

namespace dsv4::kernels {
namespace {

constexpr int kThreads = 256;
// Up to which scores and choice are worked on in shared memory: a global value written a moment ago takes as
// long as all the rest.
constexpr int kNearExperts = 1024, kNearChoices = 32;

__global__ void __launch_bounds__(kThreads) route_kernel(const Router r) {
  __shared__ TopKScratch scratch;
  __shared__ float near_scores[kNearExperts], near_biased[kNearExperts];
  __shared__ int near_chosen[kNearChoices];
  let_next_start();
  const int b = blockIdx.x;
  const std::int64_t at = static_cast<std::int64_t>(b) * r.experts;
  const bool near = r.experts <= kNearExperts && r.k <= kNearChoices;
  float* scores = near ? near_scores : r.scores + at;
  float* biased = near ? near_biased : r.biased + at;
  int* chosen = near ? near_chosen : r.chosen + b * r.k;
  const int* row_of_table =
      r.table == nullptr ? nullptr : r.table + static_cast<std::int64_t>(r.ids[b]) * r.k;
  if (near && row_of_table != nullptr)  // nobody else's memory, and the token is known since the step began
    for (int i = threadIdx.x; i < r.k; i += blockDim.x) chosen[i] = row_of_table[i];
  const float first_bias = r.bias != nullptr && threadIdx.x < r.experts ? r.bias[threadIdx.x] : 0.0f;
  wait_for_previous();
  for (int e = threadIdx.x; e < r.experts; e += blockDim.x) {
    const float x = r.logits[at + e];
    const float score = sqrtf(x > 20.0f ? x : log1pf(expf(x)));
    scores[e] = score;
    if (near) r.scores[at + e] = score;
    if (r.table != nullptr) continue;
    biased[e] = score + (e < static_cast<int>(blockDim.x) ? first_bias : r.bias[e]);
    if (near) r.biased[at + e] = biased[e];
  }
  __syncthreads();
  if (r.table != nullptr) {
    if (!near) {
      for (int i = threadIdx.x; i < r.k; i += blockDim.x) chosen[i] = row_of_table[i];
      __syncthreads();
    }
  } else {
    if (r.forced.count != nullptr && r.forced.count[b] >= 0)
      for (int i = threadIdx.x; i < r.k; i += blockDim.x) chosen[i] = r.forced.chosen[b * r.k + i];
    else
      visit_top_k(biased, r.experts, r.k, scratch, [&](int rank, int expert) { chosen[rank] = expert; });
    __syncthreads();
  }
  float sum = 0;
#pragma unroll 4
  for (int i = 0; i < r.k; ++i) sum += scores[chosen[i]];
  for (int i = threadIdx.x; i < r.k; i += blockDim.x) {
    r.shares[b * r.k + i] = scores[chosen[i]] / (sum + 1e-20f) * r.scaling;
    if (near) r.chosen[b * r.k + i] = chosen[i];
  }
}

// Up to 32 experts: a lane an expert, all in registers.
__global__ void __launch_bounds__(32) route_few_kernel(const Router r) {
  let_next_start();
  constexpr unsigned kAll = 0xFFFFFFFFu;
  const int b = blockIdx.x, lane = threadIdx.x;
  const std::int64_t at = static_cast<std::int64_t>(b) * r.experts + lane;
  const bool is_expert = lane < r.experts;
  const float bias = r.bias != nullptr && is_expert ? r.bias[lane] : 0.0f;
  int listed =
      r.table != nullptr && lane < r.k ? r.table[static_cast<std::int64_t>(r.ids[b]) * r.k + lane] : 0;
  wait_for_previous();
  const float x = is_expert ? r.logits[at] : 0.0f;
  bool by_score = r.table == nullptr;
  if (by_score && r.forced.count != nullptr && r.forced.count[b] >= 0) {
    by_score = false;
    listed = lane < r.k ? r.forced.chosen[b * r.k + lane] : 0;
  }
  const float score = sqrtf(x > 20.0f ? x : log1pf(expf(x)));
  const float biased = score + bias;
  if (is_expert) r.scores[at] = score;
  if (is_expert && r.table == nullptr) r.biased[at] = biased;
  // The place in the list of chosen ones, and the expert that stands there.
  int place = lane, expert = listed;
  bool chosen = lane < r.k;
  if (by_score) {
    const unsigned own = is_expert ? ordered(biased) : 0u;
    int before = 0;
#pragma unroll 8
    for (int j = 0; j < r.experts; ++j) {
      const unsigned other = __shfl_sync(kAll, own, j);
      before += other > own || (other == own && j < lane) ? 1 : 0;
    }
    chosen = is_expert && before < r.k;
    place = __popc(__ballot_sync(kAll, chosen) & ((1u << lane) - 1u));
    expert = lane;
  }
  const float its_score = __shfl_sync(kAll, score, expert & 31);
  const float sum = warp_sum(chosen ? its_score : 0.0f);
  if (!chosen) return;
  r.chosen[b * r.k + place] = expert;
  r.shares[b * r.k + place] = its_score / (sum + 1e-20f) * r.scaling;
}

}  // namespace

void route(cudaStream_t stream, const Router& args, int batch) {
  if (args.experts <= 32) return launch(stream, route_few_kernel, batch, 32, 0, args);
  const int threads = std::min(kThreads, (args.experts + 31) / 32 * 32);
  launch(stream, route_kernel, batch, threads, 0, args);
}

}  // namespace dsv4::kernels
