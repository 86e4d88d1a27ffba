#include "kernels/stream.h"

#include <algorithm>

#include "kernels/beside.cuh"
#include "kernels/follow.cuh"
#include "kernels/launch.h"
#include "kernels/product.h"
#include "kernels/shared_memory.h"
#include "kernels/stream_chosen.h"
#include "kernels/stream_pass.cuh"

namespace dsv4::kernels {
namespace {

constexpr int kThreads = StreamMemory::kThreads;
static_assert(kThreads == kBesideThreads);
// Rows whose work beside is done at once, where the streaming takes fewer passes than that: each costs a
// round of blocks with nothing to do.
constexpr int kRowsBeside = 4;

// Rows that are given to every matrix, kRows at a time.
template <Format F, bool kOne>
__device__ void for_rows(const StreamPlan& plan, const StreamPlan::Entry& e, const StreamShare& share,
                         std::byte* memory, Vectors<kOne>& v) {
  constexpr int kRows = kOne ? 1 : Streamed<F>::kRows;
  const int first = blockIdx.y * kRows, count = min(kRows, plan.batch - first);
  if (count <= 0) return wait_for_previous();
  WarpRing<F> ring(memory);
  Pass<F, kOne> pass(e, share, memory, ring);
  pass.begin(static_cast<const std::byte*>(e.task.w.data), Streamed<F>::kAtFirst);
  const auto put = [&](int r) {
    v.x[r] = e.task.x + static_cast<std::int64_t>(first + r) * e.task.x_stride;
    v.y[r] = e.task.y + static_cast<std::int64_t>(first + r) * e.task.y_stride;
  };
  if constexpr (kOne) {
    put(0);
  } else {
    if (threadIdx.x < count) put(threadIdx.x);
    __syncthreads();
  }
  wait_for_previous();
  pass.run(v, count);
}

// Block y is place y of the choice: (row, slot). The first place that names an expert takes all that do.
template <Format F, bool kOne>
__device__ void for_chosen(const StreamPlan& plan, const StreamPlan::Entry& e, const StreamShare& share,
                           std::byte* memory, Vectors<kOne>& v) {
  const StreamTask& task = e.task;
  WarpRing<F> ring(memory);
  Pass<F, kOne> pass(e, share, memory, ring);
  wait_for_previous();
  const int own = blockIdx.y * task.slots + task.slot, expert = task.chosen[own];
  const std::byte* const data = static_cast<const std::byte*>(task.w.data) + expert * task.matrix_stride;
  const auto put = [&](int r, int row, int slot) {
    v.x[r] = task.x + row * task.x_stride + slot * task.x_slot_stride;
    v.y[r] = task.y + row * task.y_stride + slot * task.y_slot_stride;
  };
  if constexpr (kOne) {
    pass.begin(data, Streamed<F>::kAtFirst);
    put(0, 0, task.slot);
    pass.run(v, 1);
  } else {
    bool taken = false;
    for (int i = threadIdx.x; i < own; i += kThreads) taken |= task.chosen[i] == expert;
    if (__syncthreads_or(taken ? 1 : 0) != 0) return;
    const int places = plan.batch * task.slots, lane = threadIdx.x % 32;
    for (int next = own; next < places;) {
      int count = 0;  // every warp counts for itself
      for (int base = next / 32 * 32; base < places && count < Streamed<F>::kRows; base += 32) {
        const int i = base + lane;
        unsigned same =
            __ballot_sync(~0u, i >= next && i < places && task.chosen[min(i, places - 1)] == expert);
        for (; same != 0 && count < Streamed<F>::kRows; same &= same - 1, ++count) {
          const int place = base + __ffs(static_cast<int>(same)) - 1;
          if (threadIdx.x == 0) put(count, place / task.slots, place % task.slots);
          next = place + 1;
        }
      }
      if (count == 0) return;
      __syncthreads();
      pass.begin(data, Streamed<F>::kAtFirst);
      pass.run(v, count);
    }
  }
}

template <Format F, bool kOne>
__device__ void take_share(const StreamPlan& plan, const StreamPlan::Entry& e, const StreamShare& share,
                           std::byte* memory, Vectors<kOne>& v) {
  if (e.task.chosen != nullptr)
    for_chosen<F, kOne>(plan, e, share, memory, v);
  else
    for_rows<F, kOne>(plan, e, share, memory, v);
}

template <bool kOne>
__global__ void __launch_bounds__(kThreads, 1) stream_kernel(const __grid_constant__ StreamPlan plan) {
  extern __shared__ __align__(128) std::byte memory[];
  let_next_start();
  if (static_cast<int>(blockIdx.x) >= plan.shares) {
    for (int b = blockIdx.y; b < plan.batch; b += gridDim.y) {
      do_beside(plan.beside, blockIdx.x - plan.shares, b, memory);
      __syncthreads();
    }
    return;
  }
  const StreamShare& share = plan.share[blockIdx.x];
  const StreamPlan::Entry& e = plan.entry[share.task];
  __shared__ Vectors<kOne> several;
  Vectors<kOne> one;
  Vectors<kOne>& v = kOne ? one : several;
  switch (e.task.w.format) {
    case Format::kFp4Row:
      return take_share<Format::kFp4Row, kOne>(plan, e, share, memory, v);
    case Format::kFp8Block:
      return take_share<Format::kFp8Block, kOne>(plan, e, share, memory, v);
    default:
      return take_share<Format::kBf16, kOne>(plan, e, share, memory, v);
  }
}

}  // namespace

cudaError_t prepare_streams() {
  cudaError_t status = allow_shared_memory(stream_kernel<true>, StreamMemory::bytes(1));
  if (status == cudaSuccess)
    status = allow_shared_memory(stream_kernel<false>, StreamMemory::bytes(StreamMemory::kMostVectors));
  if (status == cudaSuccess) status = prepare_chosen();
  return status == cudaSuccess ? prepare_products() : status;
}

namespace {

void stream_in_passes(cudaStream_t stream, const StreamTasks& tasks, int batch, const Beside& beside) {
  StreamPlan plan = plan_streams(tasks, batch, multiprocessors() - beside.count());
  plan.beside = beside;
  int passes = beside.count() > 0 ? std::min(batch, kRowsBeside) : 1;
  for (int i = 0; i < tasks.count; ++i) {
    const bool bf16 = tasks.task[i].w.format == Format::kBf16;
    const int rows = tasks.task[i].chosen != nullptr ? 1
                     : bf16                          ? Streamed<Format::kBf16>::kRows
                                                     : Streamed<Format::kFp8Block>::kRows;
    passes = std::max(passes, (batch + rows - 1) / rows);
  }
  const dim3 grid(plan.shares + beside.count(), passes);
  if (batch == 1)
    launch(stream, stream_kernel<true>, grid, kThreads, StreamMemory::bytes(1), plan);
  else
    launch(stream, stream_kernel<false>, grid, kThreads, StreamMemory::bytes(StreamMemory::kMostVectors),
           plan);
}

}  // namespace

void stream_weights(cudaStream_t stream, const StreamTasks& tasks, int batch, const Beside& beside) {
  if (batch == 1) return stream_in_passes(stream, tasks, batch, beside);
  StreamTasks many, chosen, others;
  for (int i = 0; i < tasks.count; ++i) {
    const StreamTask& task = tasks.task[i];
    const bool product = batch > kFewVectors && tasks.room != nullptr && has_product(task);
    (task.chosen != nullptr ? chosen : product ? many : others).add(task);
  }
  // The small work goes with the last of them.
  const Beside none{};
  const bool after_many = chosen.count > 0 || others.count > 0;
  if (many.count > 0 && !multiply(stream, many, batch, after_many ? none : beside, *tasks.room))
    stream_in_passes(stream, many, batch, after_many ? none : beside);
  if (others.count > 0) stream_in_passes(stream, others, batch, chosen.count > 0 ? none : beside);
  if (chosen.count == 0) return;
  const bool mix_alone = beside.compressors == 0 && !beside.has_norm_rope;
  if (!mix_alone || !stream_chosen(stream, chosen, batch, beside.mix))
    stream_in_passes(stream, chosen, batch, beside);
}

}  // namespace dsv4::kernels
