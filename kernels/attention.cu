#include "kernels/attention.h"

#include <cmath>
#include <cstdint>

#include "kernels/floats.cuh"
#include "kernels/follow.cuh"
#include "kernels/hyper_connection.cuh"
#include "kernels/launch.h"
#include "kernels/pages.cuh"
#include "kernels/reduce.cuh"
#include "kernels/rotate.cuh"
#include "kernels/shared_memory.h"

namespace dsv4::kernels {
namespace {

// A warp's head of q, normalised over all of it; its trailing pairs turned, which lie in a lane's own vector.
template <int W, int V>
__device__ void prepare(Floats<W> (&q)[V], const Attention& a, int position, int lane) {
  if constexpr (W == 4) {
    float squares = 0;
#pragma unroll
    for (int v = 0; v < V; ++v)
#pragma unroll
      for (int w = 0; w < W; ++w) squares = fmaf(q[v].v[w], q[v].v[w], squares);
    const float scale = rsqrtf(warp_sum(squares) / static_cast<float>(a.dim) + a.eps);
    const int plain = a.dim - 2 * a.pairs;
#pragma unroll
    for (int v = 0; v < V; ++v) {
#pragma unroll
      for (int w = 0; w < W; ++w) q[v].v[w] *= scale;
#pragma unroll
      for (int w = 0; w < W; w += 2) {
        const int d = (lane + 32 * v) * W + w;
        if (d < plain || d >= a.dim) continue;
        const float2 turned =
            rotated(q[v].v[w], q[v].v[w + 1], turn_of(position, a.frequencies[(d - plain) / 2]), false);
        q[v].v[w] = turned.x;
        q[v].v[w + 1] = turned.y;
      }
    }
  }
}

// Keys come in the order of their positions, so that sums do not depend on where they lie, T at once; the
// g-th T belong to share g mod kShares. What a share has seen is kept relative to its largest score so far
// (the softmax of one pass); a lane has V vectors of W dimensions. Shares are put together in their order.
// That is so whichever kernel does it, and whichever warp.
constexpr int kShares = 16;

template <int W, int V>
struct Seen {
  Floats<W> sum[V]{};
  float top = -INFINITY, total = 0;
};

// The next T keys of a share, of which `count` are there.
template <int W, int V, int T>
__device__ void see(Seen<W, V>& s, const Floats<W> (&q)[V], const Floats<W> (&k)[T][V], int count,
                    float scale) {
  float score[T] = {}, most = s.top;
#pragma unroll
  for (int i = 0; i < T; ++i)
#pragma unroll
    for (int v = 0; v < V; ++v)
#pragma unroll
      for (int w = 0; w < W; ++w) score[i] = fmaf(q[v].v[w], k[i][v].v[w], score[i]);
#pragma unroll
  for (int i = 0; i < T; ++i) {
    score[i] = __fmul_rn(warp_sum(score[i]), scale);
    if (i >= count) score[i] = -INFINITY;
    most = fmaxf(most, score[i]);
  }
  const float kept = expf(s.top - most);  // 0 the first time
  s.top = most;
  s.total *= kept;
#pragma unroll
  for (int v = 0; v < V; ++v)
#pragma unroll
    for (int w = 0; w < W; ++w) s.sum[v].v[w] *= kept;
#pragma unroll
  for (int i = 0; i < T; ++i) {
    const float share = expf(score[i] - most);
    s.total = __fadd_rn(s.total, share);
#pragma unroll
    for (int v = 0; v < V; ++v)
#pragma unroll
      for (int w = 0; w < W; ++w) s.sum[v].v[w] = fmaf(share, k[i][v].v[w], s.sum[v].v[w]);
  }
}

// What all shares so far have come to, the sink first: sums are to be kept times `kept` and the share's come
// in times `come`.
struct Together {
  float top, total = 1, kept = 0, come = 0;
  __device__ explicit Together(float sink) : top(sink) {}
  __device__ void add(float share_top, float share_total) {
    const float most = fmaxf(top, share_top);
    const float keep = expf(top - most);
    top = most;
    add(share_total, keep, expf(share_top - most));
  }
  __device__ void add(float share_total, float its_kept, float its_come) {
    kept = its_kept;
    come = its_come;
    total = fmaf(share_total, come, __fmul_rn(total, kept));
  }
  static __device__ float sum(float so_far, float of_share, float kept, float come) {
    return fmaf(of_share, come, __fmul_rn(so_far, kept));
  }
};

// The keys of a lane.
struct Keys {
  const float *window, *entries;
  const int* chosen;
  const Attention& a;
  int row, oldest, in_window, count;

  // Before the kernel's wait; count_entries() after it.
  __device__ Keys(const Attention& args, int b, int position)
      : entries(args.entries),
        chosen(args.chosen == nullptr ? nullptr : args.chosen + static_cast<std::int64_t>(b) * args.width),
        a(args),
        row(args.rows != nullptr ? args.rows[b] : b) {
    in_window = row < 0 ? 0 : min(position + 1, a.window_tokens);
    oldest = (position + 1 - in_window) % a.window_slots;
    window = a.window + static_cast<std::int64_t>(row) * a.window_slots * a.dim;
    count = entries == nullptr || row < 0 ? 0 : min((position + 1) / a.ratio, a.max_entries);
  }
  __device__ void count_entries(int lane) {
    int compressed = chosen != nullptr ? min(count, a.width) : count;
    if (chosen != nullptr && compressed > 0 &&
        chosen[compressed - 1] < 0) {  // forced to fewer: the -1 come last
      compressed = 0;
      for (int i = 0; i < a.width; i += 32)
        compressed += __popc(__ballot_sync(0xFFFFFFFFu, i + lane < a.width && chosen[i + lane] >= 0));
    }
    count = in_window + compressed;
  }
  __device__ const float* operator[](int j) const {
    const int entry = j - in_window;
    if (entry >= 0)
      return entries + entry_index(a.pages, row, chosen != nullptr ? chosen[entry] : entry) * a.dim;
    const int slot = oldest + j < a.window_slots ? oldest + j : oldest + j - a.window_slots;
    return window + static_cast<std::int64_t>(slot) * a.dim;
  }
};

template <int W, int V>
__device__ void load_head(const Attention& a, std::int64_t at, int lane, Floats<W> (&q)[V]) {
  const int width = a.dim / W;
#pragma unroll
  for (int v = 0; v < V; ++v)
    q[v] = lane + 32 * v < width ? reinterpret_cast<const Floats<W>*>(a.q + at)[lane + 32 * v] : Floats<W>{};
}
template <int W, int V>
__device__ void keep_head(const Attention& a, std::int64_t at, int lane, const Floats<W> (&q)[V]) {
#pragma unroll
  for (int v = 0; v < V; ++v)
    if (lane + 32 * v < a.dim / W) reinterpret_cast<Floats<W>*>(a.prepared_q + at)[lane + 32 * v] = q[v];
}

// For few lanes: a block is one head of one lane, and a warp has one share or two.
template <int W, int V, int T, int kThreads>
__global__ void __launch_bounds__(kThreads)
    attend_kernel(const __grid_constant__ Attention a, const __grid_constant__ HyperConnectionMix beside) {
  constexpr int kWarps = kThreads / 32;
  static_assert(kShares % kWarps == 0);
  extern __shared__ __align__(16) float partial[];  // [kShares, dim]
  __shared__ float tops[kShares], totals[kShares], kept[kShares], come[kShares], inverse_total;
  let_next_start();
  if (static_cast<int>(blockIdx.x) == a.heads) return mix_row(beside, blockIdx.y);
  const int head = blockIdx.x, b = blockIdx.y;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, position = a.positions[b], width = a.dim / W;
  const std::int64_t at = (static_cast<std::int64_t>(b) * a.heads + head) * a.dim;
  Keys keys(a, b, position);
  const float sink = a.sink[head], scale = rsqrtf(static_cast<float>(a.dim));
  const int plain = a.dim - 2 * a.pairs, own_pair = static_cast<int>(threadIdx.x) - plain;
  const float2 own_turn =
      own_pair >= 0 && own_pair < a.pairs ? turn_of(position, a.frequencies[own_pair]) : float2{};
  wait_for_previous();

  Floats<W> q[V];
  load_head<W, V>(a, at, lane, q);
  if (a.prepares_q) {
    prepare<W, V>(q, a, position, lane);
    if (a.prepared_q != nullptr && warp == 0) keep_head<W, V>(a, at, lane, q);
  }
  keys.count_entries(lane);
#pragma unroll 1
  for (int share = warp; share < kShares; share += kWarps) {
    Seen<W, V> seen;
#pragma unroll 1
    for (int first = share * T; first < keys.count; first += kShares * T) {
      Floats<W> k[T][V];
#pragma unroll
      for (int i = 0; i < T; ++i) {
        const auto* from = reinterpret_cast<const Floats<W>*>(keys[min(first + i, keys.count - 1)]);
#pragma unroll
        for (int v = 0; v < V; ++v) k[i][v] = lane + 32 * v < width ? from[lane + 32 * v] : Floats<W>{};
      }
      see<W, V, T>(seen, q, k, keys.count - first, scale);
    }
#pragma unroll
    for (int v = 0; v < V; ++v)
      if (lane + 32 * v < width)
        reinterpret_cast<Floats<W>*>(partial + share * a.dim)[lane + 32 * v] = seen.sum[v];
    if (lane == 0) {
      tops[share] = seen.top;
      totals[share] = seen.total;
    }
  }
  __syncthreads();
  // Shares that have keys come first. What becomes of each when it comes in follows from the tops alone, lane
  // by lane; then a value is a thread's.
  const int shares = min(kShares, (keys.count + T - 1) / T);
  if (warp == 0) {
    const float own_top = lane < shares ? tops[lane] : -INFINITY,
                own_total = lane < shares ? totals[lane] : 0.0f;
    float most = own_top;  // of the shares up to the lane's
#pragma unroll
    for (int offset = 1; offset < kShares; offset *= 2) {
      const float other = __shfl_up_sync(0xFFFFFFFFu, most, offset);
      if (lane >= offset) most = fmaxf(most, other);
    }
    most = fmaxf(most, sink);
    float before = __shfl_up_sync(0xFFFFFFFFu, most, 1);
    if (lane == 0) before = sink;
    const float own_kept = expf(before - most), own_come = expf(own_top - most);
    if (lane < kShares) {
      kept[lane] = own_kept;
      come[lane] = own_come;
    }
    Together together(sink);
    for (int share = 0; share < shares; ++share)
      together.add(__shfl_sync(0xFFFFFFFFu, own_total, share), __shfl_sync(0xFFFFFFFFu, own_kept, share),
                   __shfl_sync(0xFFFFFFFFu, own_come, share));
    if (lane == 0) inverse_total = 1.0f / together.total;
  }
  __syncthreads();
  const float inverse = inverse_total;
  const auto value = [&](int d) {
    float sum = 0;
#pragma unroll 8
    for (int share = 0; share < shares; ++share)
      sum = Together::sum(sum, partial[share * a.dim + d], kept[share], come[share]);
    return sum * inverse;
  };
  for (int i = threadIdx.x; i < plain + a.pairs; i += kThreads) {
    if (i < plain) {
      a.out[at + i] = value(i);
      continue;
    }
    const int pair = i - plain, d = plain + 2 * pair;
    const float2 turned = rotated(value(d), value(d + 1),
                                  pair == own_pair ? own_turn : turn_of(position, a.frequencies[pair]), true);
    a.out[at + d] = turned.x;
    a.out[at + d + 1] = turned.y;
  }
}

// For many lanes: a warp has two heads of one, and the block's warps read their keys from shared memory,
// which come T at a time, share by share.
constexpr int kManyWarps = 8, kManyHeads = 2 * kManyWarps, kAhead = 4;

template <int V, int T>
__global__ void __launch_bounds__(32 * kManyWarps)
    attend_many_kernel(const __grid_constant__ Attention a,
                       const __grid_constant__ HyperConnectionMix beside) {
  constexpr int W = 4, kThreads = 32 * kManyWarps;
  extern __shared__ __align__(16) float ring[];  // [kAhead, T, dim]
  let_next_start();
  const int groups = (a.heads + kManyHeads - 1) / kManyHeads;
  if (static_cast<int>(blockIdx.x) == groups) return mix_row(beside, blockIdx.y);
  const int b = blockIdx.y, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int position = a.positions[b], width = a.dim / W, plain = a.dim - 2 * a.pairs;
  const int first_head = blockIdx.x * kManyHeads + 2 * warp;
  const float scale = rsqrtf(static_cast<float>(a.dim));
  Keys keys(a, b, position);
  wait_for_previous();

  keys.count_entries(lane);
  const int all = (keys.count + T - 1) / T, shares = min(kShares, all);  // times T keys
  const auto next_of = [&](int g) { return g + kShares < all ? g + kShares : g % kShares + 1; };
  const auto ask = [&](int g, int stage) {
    if (g < shares || (g >= kShares && g < all))
      for (int i = threadIdx.x; i < T * width; i += kThreads) {
        const int key = i / width, at = i - key * width;
        const float* const from = keys[min(g * T + key, keys.count - 1)] + W * at;
        const unsigned to =
            static_cast<unsigned>(__cvta_generic_to_shared(ring + (stage * T + key) * a.dim + W * at));
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
      }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  int asked = 0;
  for (int stage = 0; stage < kAhead - 1; ++stage) {
    ask(asked, stage);
    if (asked < all) asked = next_of(asked);
  }
  Floats<W> q[2][V], sum[2][V]{};
  Together together[2] = {Together(first_head < a.heads ? a.sink[first_head] : 0.0f),
                          Together(first_head + 1 < a.heads ? a.sink[first_head + 1] : 0.0f)};
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int head = min(first_head + h, a.heads - 1);
    const std::int64_t at = (static_cast<std::int64_t>(b) * a.heads + head) * a.dim;
    load_head<W, V>(a, at, lane, q[h]);
    if (!a.prepares_q) continue;
    prepare<W, V>(q[h], a, position, lane);
    if (a.prepared_q != nullptr && first_head + h < a.heads) keep_head<W, V>(a, at, lane, q[h]);
  }
  int stage = 0, g = 0;
#pragma unroll 1
  for (int share = 0; share < shares; ++share) {
    Seen<W, V> seen[2];
#pragma unroll 1
    for (g = share; g < all; g += kShares) {
      asm volatile("cp.async.wait_group %0;" ::"n"(kAhead - 2) : "memory");
      __syncthreads();
      ask(asked, (stage + kAhead - 1) % kAhead);
      if (asked < all) asked = next_of(asked);
      Floats<W> k[T][V];
#pragma unroll
      for (int i = 0; i < T; ++i) {
        const auto* const from = reinterpret_cast<const Floats<W>*>(ring + (stage * T + i) * a.dim);
#pragma unroll
        for (int v = 0; v < V; ++v) k[i][v] = lane + 32 * v < width ? from[lane + 32 * v] : Floats<W>{};
      }
#pragma unroll
      for (int h = 0; h < 2; ++h) see<W, V, T>(seen[h], q[h], k, keys.count - g * T, scale);
      stage = (stage + 1) % kAhead;
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      together[h].add(seen[h].top, seen[h].total);
#pragma unroll
      for (int v = 0; v < V; ++v)
#pragma unroll
        for (int w = 0; w < W; ++w)
          sum[h][v].v[w] =
              Together::sum(sum[h][v].v[w], seen[h].sum[v].v[w], together[h].kept, together[h].come);
    }
  }
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    if (first_head + h >= a.heads) break;
    const float inverse = 1.0f / together[h].total;
    auto* const to = reinterpret_cast<Floats<W>*>(
        a.out + (static_cast<std::int64_t>(b) * a.heads + first_head + h) * a.dim);
#pragma unroll
    for (int v = 0; v < V; ++v) {
      if (lane + 32 * v >= width) break;
      Floats<W> out;
#pragma unroll
      for (int w = 0; w < W; ++w) out.v[w] = sum[h][v].v[w] * inverse;
#pragma unroll
      for (int w = 0; w < W; w += 2) {
        const int d = (lane + 32 * v) * W + w;
        if (d < plain) continue;
        const float2 turned =
            rotated(out.v[w], out.v[w + 1], turn_of(position, a.frequencies[(d - plain) / 2]), true);
        out.v[w] = turned.x;
        out.v[w + 1] = turned.y;
      }
      to[lane + 32 * v] = out;
    }
  }
}

constexpr int kManyLanes = 16;  // from which sixteen heads have one block

struct Kernel {
  void (*launched)(Attention, HyperConnectionMix);
  int threads, keys;  // floats of shared memory: so many times a head's dimensions
  int heads = 1;      // of a block
  int shared_bytes(int dim) const { return keys * dim * static_cast<int>(sizeof(float)); }
};
Kernel kernel_for(int dim, int batch) {
  if (dim % 4 != 0) return {attend_kernel<1, kMostHeadDim / 32, 2, 256>, 256, kShares};
  if (dim > 512) return {attend_kernel<4, kMostHeadDim / 128, 2, 256>, 256, kShares};
  if (batch >= kManyLanes)
    return {dim <= 128 ? attend_many_kernel<1, 4> : attend_many_kernel<4, 4>, 32 * kManyWarps, kAhead * 4,
            kManyHeads};
  if (dim <= 128) return {attend_kernel<4, 1, 4, 256>, 256, kShares};
  return {attend_kernel<4, 4, 4, 512>, 512, kShares};
}

}  // namespace

cudaError_t prepare_attention(int dim) {
  for (const int batch : {1, kManyLanes}) {
    const Kernel kernel = kernel_for(dim, batch);
    const cudaError_t status = allow_shared_memory(kernel.launched, kernel.shared_bytes(dim));
    if (status != cudaSuccess) return status;
  }
  return cudaSuccess;
}

void attend(cudaStream_t stream, const Attention& args, int batch, const HyperConnectionMix& beside) {
  const Kernel kernel = kernel_for(args.dim, batch);
  const int blocks = (args.heads + kernel.heads - 1) / kernel.heads + (beside.post != nullptr ? 1 : 0);
  launch(stream, kernel.launched, dim3(blocks, batch), kernel.threads, kernel.shared_bytes(args.dim), args,
         beside);
}

}  // namespace dsv4::kernels
