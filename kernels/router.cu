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

// One warp, kEach experts a lane in registers: a choice is a round for each of the k. At most kNearChoices.
template <int kEach>
__global__ void __launch_bounds__(32) route_warp_kernel(const Router r) {
  __shared__ float scores[32 * kEach];
  __shared__ int chosen[kNearChoices];
  let_next_start();
  constexpr unsigned kAll = 0xFFFFFFFFu;
  const int b = blockIdx.x, lane = threadIdx.x;
  const std::int64_t at = static_cast<std::int64_t>(b) * r.experts;
  float bias[kEach];
#pragma unroll
  for (int j = 0; j < kEach; ++j)
    bias[j] = r.bias != nullptr && j * 32 + lane < r.experts ? r.bias[j * 32 + lane] : 0.0f;
  int listed =
      r.table != nullptr && lane < r.k ? r.table[static_cast<std::int64_t>(r.ids[b]) * r.k + lane] : 0;
  wait_for_previous();
  bool by_score = r.table == nullptr;
  if (by_score && r.forced.count != nullptr && r.forced.count[b] >= 0) {
    by_score = false;
    listed = lane < r.k ? r.forced.chosen[b * r.k + lane] : 0;
  }
  float logit[kEach];
#pragma unroll
  for (int j = 0; j < kEach; ++j) logit[j] = j * 32 + lane < r.experts ? r.logits[at + j * 32 + lane] : 0.0f;
  unsigned key[kEach], left = 0;  // a bit for each of the lane's experts that is not chosen
#pragma unroll
  for (int j = 0; j < kEach; ++j) {
    const int e = j * 32 + lane;
    const float x = logit[j], score = sqrtf(x > 20.0f ? x : log1pf(expf(x))), biased = score + bias[j];
    scores[e] = score;
    key[j] = ordered(biased);
    if (e >= r.experts) continue;
    left |= 1u << j;
    r.scores[at + e] = score;
    if (r.table == nullptr) r.biased[at + e] = biased;
  }
  if (by_score) {
    const unsigned all = left;
    for (int round = 0; round < r.k; ++round) {
      unsigned most = 0;
#pragma unroll
      for (int j = 0; j < kEach; ++j) most = max(most, left >> j & 1u ? key[j] : 0u);
      most = __reduce_max_sync(kAll, most);
      unsigned first = ~0u;  // of equals the lowest index
#pragma unroll
      for (int j = kEach - 1; j >= 0; --j)
        if ((left >> j & 1u) != 0 && key[j] == most) first = static_cast<unsigned>(j * 32 + lane);
      first = __reduce_min_sync(kAll, first);
      if (first % 32 == static_cast<unsigned>(lane)) left &= ~(1u << first / 32);
    }
    int before = 0;
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      const unsigned taken = __ballot_sync(kAll, ((all & ~left) >> j & 1u) != 0);
      if (taken >> lane & 1u) chosen[before + __popc(taken & ((1u << lane) - 1u))] = j * 32 + lane;
      before += __popc(taken);
    }
  } else if (lane < r.k) {
    chosen[lane] = listed;
  }
  __syncwarp();
  const int expert = lane < r.k ? chosen[lane] : 0;
  const float score = lane < r.k ? scores[expert] : 0.0f;
  const float sum = warp_sum(score);
  if (lane >= r.k) return;
  r.chosen[b * r.k + lane] = expert;
  r.shares[b * r.k + lane] = score / (sum + 1e-20f) * r.scaling;
}

}  // namespace

void route(cudaStream_t stream, const Router& args, int batch) {
  if (args.k <= kNearChoices) {
    if (args.experts <= 32) return launch(stream, route_warp_kernel<1>, batch, 32, 0, args);
    if (args.experts <= 256) return launch(stream, route_warp_kernel<8>, batch, 32, 0, args);
    if (args.experts <= 512) return launch(stream, route_warp_kernel<16>, batch, 32, 0, args);
  }
  const int threads = std::min(kThreads, (args.experts + 31) / 32 * 32);
  launch(stream, route_kernel, batch, threads, 0, args);
}

}  // namespace dsv4::kernels
