// Experts of many rows (stream.h): each expert's bytes once for every few rows that chose it.
#include <algorithm>

#include "kernels/beside.cuh"
#include "kernels/follow.cuh"
#include "kernels/launch.h"
#include "kernels/shared_memory.h"
#include "kernels/stream_chosen.h"
#include "kernels/stream_pass.cuh"

namespace dsv4::kernels {
namespace {

constexpr int kThreads = StreamMemory::kThreads, kWarps = StreamMemory::kWarps;

struct ChosenPlan {
  StreamPlan::Entry entry;  // its task of any slot
  int batch, places, turns, blocks, beside_rows;
  Beside beside;
};

// Each `rows` places that name one expert are an item, which is known by the first of them. Items come in the
// order of the places; gives back their number. By the whole block.
__device__ int list_items(const int* chosen, int places, int rows, std::int16_t* experts,
                          std::int16_t* items) {
  __shared__ int found[kWarps];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int i = threadIdx.x; i < places; i += kThreads) experts[i] = static_cast<std::int16_t>(chosen[i]);
  __syncthreads();
  int count = 0;
  for (int base = 0; base < places; base += kThreads) {
    const int i = base + threadIdx.x;
    int before = 0;
    if (i < places)
#pragma unroll 8
      for (int j = 0; j < i; ++j) before += experts[j] == experts[i] ? 1 : 0;
    const unsigned firsts = __ballot_sync(~0u, i < places && before % rows == 0);
    if (lane == 0) found[warp] = __popc(firsts);
    __syncthreads();
    int at = count + __popc(firsts & ((1u << lane) - 1u));
    for (int w = 0; w < kWarps; ++w) {
      if (w < warp) at += found[w];
      count += found[w];
    }
    if (firsts >> lane & 1u) items[at] = static_cast<std::int16_t>(i);
    __syncthreads();
  }
  return count;
}

struct Lists {
  std::int16_t experts[kMostPlaces], items[kMostPlaces];
  Vectors<false> vectors;
};

template <Format F>
__device__ void take_items(const ChosenPlan& plan, std::byte* memory, Lists& lists) {
  constexpr int kRows = Streamed<F>::kRows;
  std::int16_t *const experts = lists.experts, *const items = lists.items;
  Vectors<false>& v = lists.vectors;
  const StreamPlan::Entry& e = plan.entry;
  const StreamTask& task = e.task;
  WarpRing<F> ring(memory);
  wait_for_previous();
  const int count = list_items(task.chosen, plan.places, kRows, experts, items);
  const int tiles = (task.w.rows + kTileRows - 1) / kTileRows, lane = threadIdx.x % 32;
  const std::int64_t all = static_cast<std::int64_t>(count) * plan.turns;
  const int stop = static_cast<int>(all * (blockIdx.x + 1) / plan.blocks);
  for (int at = static_cast<int>(all * blockIdx.x / plan.blocks); at < stop;) {
    const int item = at / plan.turns, turn = at - item * plan.turns,
              turns = min(plan.turns - turn, stop - at);
    const StreamShare share{0, turn * e.streams, min((turn + turns) * e.streams, tiles) - turn * e.streams};
    at += turns;
    const int expert = experts[items[item]];
    int together = 0;  // every warp counts for itself
    for (int base = items[item] / 32 * 32; base < plan.places && together < kRows; base += 32) {
      const int i = base + lane;
      unsigned same = __ballot_sync(
          ~0u, i >= items[item] && i < plan.places && experts[min(i, plan.places - 1)] == expert);
      for (; same != 0 && together < kRows; same &= same - 1, ++together) {
        const int place = base + __ffs(static_cast<int>(same)) - 1;
        if (threadIdx.x != 0) continue;
        const int row = place / task.slots, slot = place - row * task.slots;
        v.x[together] = task.x + row * task.x_stride + slot * task.x_slot_stride;
        v.y[together] = task.y + row * task.y_stride + slot * task.y_slot_stride;
      }
    }
    __syncthreads();
    const std::byte* const data = static_cast<const std::byte*>(task.w.data) + expert * task.matrix_stride;
    if (together == 1) {  // as many are: its code is shorter
      Pass<F, true> pass(e, share, memory, ring);
      pass.begin(data, Streamed<F>::kAtFirst);
      pass.run({{v.x[0]}, {v.y[0]}}, 1);
    } else {
      Pass<F, false> pass(e, share, memory, ring);
      pass.begin(data, Streamed<F>::kAtFirst);
      pass.run(v, together);
    }
  }
}

__global__ void __launch_bounds__(kThreads, 1) chosen_kernel(const __grid_constant__ ChosenPlan plan) {
  extern __shared__ __align__(128) std::byte memory[];
  let_next_start();
  if (static_cast<int>(blockIdx.x) >= plan.blocks) {
    for (int b = blockIdx.x - plan.blocks; b < plan.batch; b += plan.beside_rows) {
      do_beside(plan.beside, 0, b, memory);
      __syncthreads();
    }
    return;
  }
  __shared__ Lists lists;
  switch (plan.entry.task.w.format) {
    case Format::kFp4Row:
      return take_items<Format::kFp4Row>(plan, memory, lists);
    case Format::kFp8Block:
      return take_items<Format::kFp8Block>(plan, memory, lists);
    default:
      return take_items<Format::kBf16>(plan, memory, lists);
  }
}

}  // namespace

bool stream_chosen(cudaStream_t stream, const StreamTasks& tasks, int batch,
                   const HyperConnectionMix& beside) {
  constexpr int kRowsBeside = 4;
  const StreamTask& first = tasks.task[0];
  if (batch < 2 || tasks.count != first.slots || batch * first.slots > kMostPlaces) return false;
  for (int i = 0; i < tasks.count; ++i) {
    const StreamTask& t = tasks.task[i];
    if (t.chosen == nullptr || t.chosen != first.chosen || t.w.data != first.w.data || t.slot != i)
      return false;
  }
  ChosenPlan plan{};
  plan.entry = plan_streams(tasks, batch, tasks.count).entry[0];
  plan.batch = batch;
  plan.places = batch * first.slots;
  plan.turns = ((first.w.rows + kTileRows - 1) / kTileRows + plan.entry.streams - 1) / plan.entry.streams;
  plan.beside.mix = beside;
  plan.beside_rows = beside.post != nullptr ? std::min(batch, kRowsBeside) : 0;
  plan.blocks = std::max(1, multiprocessors() - plan.beside_rows);
  launch(stream, chosen_kernel, plan.blocks + plan.beside_rows, kThreads,
         StreamMemory::bytes(StreamMemory::kMostVectors), plan);
  return true;
}

cudaError_t prepare_chosen() {
  return allow_shared_memory(chosen_kernel, StreamMemory::bytes(StreamMemory::kMostVectors));
}

}  // namespace dsv4::kernels
