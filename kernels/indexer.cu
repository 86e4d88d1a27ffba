#include "kernels/indexer.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/follow.cuh"
#include "kernels/launch.h"
#include "kernels/reduce.cuh"
#include "kernels/shared_memory.h"
#include "kernels/top_k.cuh"

namespace dsv4::kernels {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;

// A warp takes an entry, a lane every 32nd head. The query lies in shared memory, a float of padding a head
// against bank conflicts.
__global__ void __launch_bounds__(kThreads) index_scores_kernel(const IndexScores a) {
  let_next_start();
  extern __shared__ float query[];
  const int b = blockIdx.y, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int closed = min((a.positions[b] + 1) / a.ratio, a.max_entries), pitch = a.dim + 1;
  wait_for_previous();
  float* scores = a.scores + static_cast<std::int64_t>(b) * a.max_entries;
  const int first = blockIdx.x * kWarps + warp, step = gridDim.x * kWarps;
  if (static_cast<int>(blockIdx.x) * kWarps < closed) {
    const float* from = a.query + static_cast<std::int64_t>(b) * a.heads * a.dim;
    for (int i = threadIdx.x; i < a.heads * a.dim; i += kThreads)
      query[i / a.dim * pitch + i % a.dim] = from[i];
    __syncthreads();
  }
  const float scale = 1.0f / sqrtf(static_cast<float>(a.dim));
  for (int w = first; w < a.max_entries; w += step) {
    if (w >= closed) {
      if (lane == 0) scores[w] = -INFINITY;
      continue;
    }
    const float* key = a.keys + (static_cast<std::int64_t>(b) * a.max_entries + w) * a.dim;
    float score = 0;
    for (int h = lane; h < a.heads; h += 32) {
      float product = 0;
#pragma unroll 8
      for (int d = 0; d < a.dim; ++d) product = fmaf(query[h * pitch + d], key[d], product);
      product *= scale;
      if (product > 0) score = fmaf(a.weights[b * a.heads + h], product, score);
    }
    score = warp_sum(score);
    if (lane == 0) scores[w] = score;
  }
}

__global__ void __launch_bounds__(kThreads)
    choose_kernel(const float* all_scores, int max_entries, int ratio, const int* positions, int k,
                  int* all_chosen, ForcedChoice forced) {
  let_next_start();
  __shared__ TopKScratch scratch;
  const int b = blockIdx.x, closed = min((positions[b] + 1) / ratio, max_entries);
  int* chosen = all_chosen + static_cast<std::int64_t>(b) * k;
  wait_for_previous();
  for (int i = min(k, closed) + threadIdx.x; i < k; i += kThreads) chosen[i] = -1;
  visit_top_k(all_scores + static_cast<std::int64_t>(b) * max_entries, closed, k, scratch,
              [&](int rank, int index) { chosen[rank] = index; });
  if (forced.count == nullptr || forced.count[b] < 0) return;
  __syncthreads();
  for (int i = threadIdx.x; i < k; i += kThreads)
    chosen[i] = i < forced.count[b] ? forced.chosen[static_cast<std::int64_t>(b) * k + i] : -1;
}

}  // namespace

cudaError_t prepare_index_scores(int heads, int dim) {
  return allow_shared_memory(index_scores_kernel, heads * (dim + 1) * static_cast<int>(sizeof(float)));
}

void index_scores(cudaStream_t stream, const IndexScores& args, int batch) {
  const int blocks = std::min((args.max_entries + kWarps - 1) / kWarps, 264);
  launch(stream, index_scores_kernel, dim3(blocks, batch), kThreads,
         args.heads * (args.dim + 1) * sizeof(float), args);
}

void choose_entries(cudaStream_t stream, const float* scores, int max_entries, int ratio,
                    const int* positions, int k, int* chosen, ForcedChoice forced, int batch) {
  launch(stream, choose_kernel, batch, kThreads, 0, scores, max_entries, ratio, positions, k, chosen, forced);
}

}  // namespace dsv4::kernels
