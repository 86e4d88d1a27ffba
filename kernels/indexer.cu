#include "kernels/indexer.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/floats.cuh"
#include "kernels/follow.cuh"
#include "kernels/launch.h"
#include "kernels/pages.cuh"
#include "kernels/reduce.cuh"
#include "kernels/rotate.cuh"
#include "kernels/shared_memory.h"
#include "kernels/top_k.cuh"

namespace dsv4::kernels {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;

// Floats of padding a head of the query has in shared memory, against bank conflicts.
template <int W>
constexpr int kPadding = W == 1 ? 1 : 4;

int shared_floats(int heads, int dim) {
  return heads * (dim + kPadding<4>)+kWarps * dim;
}

// The query in shared memory, its trailing pairs rotated. By the whole block.
template <int W>
__device__ void load_query(const IndexScores& a, int b, float* query) {
  const int pitch = a.dim + kPadding<W>, pairs = a.frequencies != nullptr ? a.pairs : 0;
  const int width = a.dim / W, plain = a.dim - 2 * pairs;
  const auto* from =
      reinterpret_cast<const Floats<W>*>(a.query + static_cast<std::int64_t>(b) * a.heads * a.dim);
#pragma unroll 8
  for (int i = threadIdx.x; i < a.heads * width; i += kThreads) {
    const int head = i / width;
    *reinterpret_cast<Floats<W>*>(query + head * pitch + (i - head * width) * W) = from[i];
  }
  __syncthreads();
  if (pairs == 0) return;
  const int position = a.positions[b];
  for (int i = threadIdx.x; i < a.heads * pairs;
       i += kThreads) {  // a thread keeps to few pairs of few angles
    const int pair = i % pairs;
    float* const at = query + i / pairs * pitch + plain + 2 * pair;
    const float2 turned = rotated(at[0], at[1], turn_of(position, a.frequencies[pair]), false);
    at[0] = turned.x;
    at[1] = turned.y;
  }
  __syncthreads();
}

// A warp takes an entry, a lane every 32nd head.
template <int W>
__global__ void __launch_bounds__(kThreads) index_scores_kernel(const IndexScores a) {
  let_next_start();
  extern __shared__ __align__(16) float query[];
  const int b = blockIdx.y, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = a.rows != nullptr ? a.rows[b] : b, pitch = a.dim + kPadding<W>;
  const int closed = row < 0 ? 0 : min((a.positions[b] + 1) / a.ratio, a.max_entries);
  auto* const key = reinterpret_cast<Floats<W>*>(query + a.heads * pitch + warp * a.dim);
  const int width = a.dim / W;
  wait_for_previous();
  if (closed <= a.unscored && a.unscored > 0) return;
  float* scores = a.scores + static_cast<std::int64_t>(b) * a.max_entries;
  const int first = blockIdx.x * kWarps + warp, step = gridDim.x * kWarps;
  if (static_cast<int>(blockIdx.x) * kWarps < closed || (a.rotated != nullptr && blockIdx.x == 0)) {
    load_query<W>(a, b, query);
    if (a.rotated != nullptr && blockIdx.x == 0)
      for (int i = threadIdx.x; i < a.heads * a.dim; i += kThreads)
        a.rotated[static_cast<std::int64_t>(b) * a.heads * a.dim + i] = query[i / a.dim * pitch + i % a.dim];
  }
  const float scale = 1.0f / sqrtf(static_cast<float>(a.dim));
  for (int w = first; w < a.max_entries; w += step) {
    if (w >= closed) {
      if (lane == 0) scores[w] = -INFINITY;
      continue;
    }
    const auto* from = reinterpret_cast<const Floats<W>*>(a.keys + entry_index(a.pages, row, w) * a.dim);
    for (int i = lane; i < width; i += 32) key[i] = from[i];
    __syncwarp();
    float score = 0;
    for (int h = lane; h < a.heads; h += 32) {
      const auto* own = reinterpret_cast<const Floats<W>*>(query + h * pitch);
      float product = 0;
#pragma unroll 8
      for (int i = 0; i < width; ++i) {
        const Floats<W> q = own[i], k = key[i];
#pragma unroll
        for (int j = 0; j < W; ++j) product = fmaf(q.v[j], k.v[j], product);
      }
      product *= scale;
      if (product > 0) score = fmaf(a.weights[b * a.heads + h], product, score);
    }
    score = warp_sum(score);
    if (lane == 0) scores[w] = score;
    __syncwarp();
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
  const int bytes = shared_floats(heads, dim) * static_cast<int>(sizeof(float));
  return dim % 4 == 0 ? allow_shared_memory(index_scores_kernel<4>, bytes)
                      : allow_shared_memory(index_scores_kernel<1>, bytes);
}

void index_scores(cudaStream_t stream, const IndexScores& args, int batch) {
  const int blocks = std::min((args.max_entries + kWarps - 1) / kWarps, 264);
  const auto kernel = args.dim % 4 == 0 ? index_scores_kernel<4> : index_scores_kernel<1>;
  launch(stream, kernel, dim3(blocks, batch), kThreads, shared_floats(args.heads, args.dim) * sizeof(float),
         args);
}

void choose_entries(cudaStream_t stream, const float* scores, int max_entries, int ratio,
                    const int* positions, int k, int* chosen, ForcedChoice forced, int batch) {
  launch(stream, choose_kernel, batch, kThreads, 0, scores, max_entries, ratio, positions, k, chosen, forced);
}

}  // namespace dsv4::kernels
