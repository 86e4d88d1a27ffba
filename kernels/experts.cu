#include "kernels/experts.h"

#include <algorithm>

#include "kernels/dequantise.cuh"
#include "kernels/follow.cuh"
#include "kernels/hyper_connection.cuh"
#include "kernels/launch.h"
#include "kernels/reduce.cuh"
#include "kernels/stream.h"

namespace dsv4::kernels {
namespace {

constexpr int kWarps = 8;

__device__ Matrix of_expert(const ExpertMatrices& all, int e) {
  Matrix m = all.first;
  m.data = static_cast<const char*>(m.data) + e * all.data_stride;
  m.scale = static_cast<const char*>(m.scale) + e * all.scale_stride;
  return m;
}

// Whether the rows of a matrix are read in whole chunks, for those of a slot's experts and of the shared one.
struct Chunked {
  bool first, second, shared_first, shared_second;
};

// A warp is R output rows of one slot. The shared expert's row is on its way before the choice is known.
template <int R>
__global__ void __launch_bounds__(32 * kWarps, 2)
    up_kernel(const __grid_constant__ ExpertsUp a, Chunked chunked, int slots,
              const HyperConnectionMix beside) {
  let_next_start();
  if (static_cast<int>(blockIdx.y) == slots) {
    if (blockIdx.x == 0) return mix_row(beside, blockIdx.z);
    return wait_for_previous();
  }
  const int row = (blockIdx.x * kWarps + threadIdx.x / 32) * R, lane = threadIdx.x % 32;
  const int slot = blockIdx.y, b = blockIdx.z;
  const bool shared = slot == a.slots, inside = row < a.w1.first.rows;
  const bool whole[2] = {shared ? chunked.shared_first : chunked.first,
                         shared ? chunked.shared_second : chunked.second};
  Matrix w1 = a.shared_w1, w3 = a.shared_w3;
  Ahead<R> gate_ahead{}, up_ahead{};
  if (shared && inside) {
    gate_ahead = fetch_first<R>(w1, row, lane, 32, whole[0]);
    up_ahead = fetch_first<R>(w3, row, lane, 32, whole[1]);
  }
  wait_for_previous();
  if (!inside) return;
  if (!shared) {
    const int e = a.chosen == nullptr ? 0 : a.chosen[b * a.slots + slot];
    w1 = of_expert(a.w1, e);
    w3 = of_expert(a.w3, e);
    gate_ahead = fetch_first<R>(w1, row, lane, 32, whole[0]);
    up_ahead = fetch_first<R>(w3, row, lane, 32, whole[1]);
  }
  const float* const x[1] = {a.x + static_cast<std::int64_t>(b) * a.w1.first.cols};
  float gate[R] = {}, up[R] = {};
  Matrix w = w1;
  Ahead<R> ahead = gate_ahead;
  bool in_chunks = whole[0];
#pragma unroll 1
  for (int i = 0; i < 2; ++i) {  // one copy of the code for both: it is fetched anew at each launch
    float sum[R][1] = {};
    add_dot<1, R>(w, row, x, lane, 32, in_chunks, ahead, sum);
#pragma unroll
    for (int r = 0; r < R; ++r) {
      gate[r] = up[r];
      up[r] = sum[r][0];
    }
    w = w3;
    ahead = up_ahead;
    in_chunks = whole[1];
  }
  float* out = a.out + (static_cast<std::int64_t>(b) * a.out_slots + slot) * a.w1.first.rows + row;
#pragma unroll
  for (int r = 0; r < R; ++r) {
    const float g = fminf(warp_sum(gate[r]), a.limit);
    const float u = fminf(fmaxf(warp_sum(up[r]), -a.limit), a.limit);
    if (lane == r) out[r] = g / (1.0f + expf(-g)) * u;
  }
}

template <int R>
__global__ void __launch_bounds__(32 * kWarps, 2)
    down_kernel(const __grid_constant__ ExpertsDown a, bool chunked, bool shared_chunked) {
  let_next_start();
  const int row = (blockIdx.x * kWarps + threadIdx.x / 32) * R, lane = threadIdx.x % 32;
  const int slot = blockIdx.y, b = blockIdx.z;
  const bool shared = slot == a.slots, inside = row < a.w2.first.rows,
             whole = shared ? shared_chunked : chunked;
  Matrix w2 = a.shared_w2;
  Ahead<R> ahead{};
  if (shared && inside) ahead = fetch_first<R>(w2, row, lane, 32, whole);
  wait_for_previous();
  if (!inside) return;
  if (!shared) {
    w2 = of_expert(a.w2, a.chosen == nullptr ? 0 : a.chosen[b * a.slots + slot]);
    ahead = fetch_first<R>(w2, row, lane, 32, whole);
  }
  const float* const x[1] = {a.x + (static_cast<std::int64_t>(b) * a.x_slots + slot) * a.w2.first.cols};
  float sum[R][1] = {};
  add_dot<1, R>(w2, row, x, lane, 32, whole, ahead, sum);
  float* out = a.out + (static_cast<std::int64_t>(b) * a.out_slots + slot) * a.w2.first.rows + row;
#pragma unroll
  for (int r = 0; r < R; ++r) {
    const float y = warp_sum(sum[r][0]);
    if (lane == r) out[r] = y;
  }
}

// Rows that share what is read of x, where that leaves a few warps for every SM.
constexpr int kSharing = 4;
bool rows_may_share(int rows, int slots) {
  return rows % kSharing == 0 && rows / kSharing * slots >= 132 * 8;
}

int tiles(int rows, int rows_of_a_warp) {
  const int rows_of_a_block = kWarps * rows_of_a_warp;
  return (rows + rows_of_a_block - 1) / rows_of_a_block;
}

// The task of slot `slot`; `x_slots` and `y_slots` places of `cols` and `rows` values in a row of x and of y.
StreamTask slot_task(const Matrix& w, const float* x, int x_slots, float* y, int y_slots, int rows,
                     int slot) {
  StreamTask t;
  t.w = w;
  t.x = x;
  t.x_stride = static_cast<std::int64_t>(std::max(x_slots, 1)) * w.cols;
  t.x_slot_stride = x_slots > 0 ? w.cols : 0;
  t.y = y;
  t.y_stride = static_cast<std::int64_t>(y_slots) * rows;
  t.y_slot_stride = rows;
  t.slot = slot;
  return t;
}
StreamTask of_one(StreamTask t) {  // not chosen: the slot is in the pointers
  t.x += t.slot * t.x_slot_stride;
  t.y += t.slot * t.y_slot_stride;
  t.slot = 0;
  return t;
}

StreamTask up_task(const ExpertsUp& args, const Matrix& w, int slot) {
  StreamTask t = slot_task(w, args.x, 0, args.out, args.out_slots, w.rows / 2, slot);
  t.pair = true;
  t.limit = args.limit;
  return t;
}

// All slots of the routed experts, and the shared one.
template <class Task>
void stream_slots(cudaStream_t stream, const ExpertMatrices& routed, const Matrix& shared, const int* chosen,
                  int slots, int batch, const HyperConnectionMix& beside, const ProductRoom* room,
                  const Task& task) {
  StreamTasks tasks;
  tasks.room = room;
  bool first = true;
  const auto flush = [&] {
    Beside small;
    if (first) small.mix = beside;
    if (tasks.count > 0) stream_weights(stream, tasks, batch, small);
    tasks.count = 0;
    first = false;
  };
  for (int slot = 0; slot < slots; ++slot) {
    if (tasks.full()) flush();
    StreamTask t = task(routed.first, slot);
    t.chosen = chosen;
    t.matrix_stride = routed.data_stride;
    t.slots = slots;
    tasks.add(chosen != nullptr ? t : of_one(t));
  }
  if (tasks.full()) flush();
  if (shared.data != nullptr) tasks.add(of_one(task(shared, slots)));
  flush();
}

}  // namespace

StreamTask shared_up_task(const ExpertsUp& args) {
  return of_one(up_task(args, args.shared_both, args.slots));
}

void experts_up(cudaStream_t stream, const ExpertsUp& args, int batch, const HyperConnectionMix& beside) {
  if (args.both.first.data != nullptr)
    return stream_slots(stream, args.both, args.shared_both, args.chosen, args.slots, batch, beside, nullptr,
                        [&](const Matrix& w, int slot) { return up_task(args, w, slot); });
  const Matrix &w1 = args.w1.first, &w3 = args.w3.first;
  const int slots = args.slots + (args.shared_w1.data != nullptr ? 1 : 0);
  const Chunked chunked{whole_chunks(w1), whole_chunks(w3), whole_chunks(args.shared_w1),
                        whole_chunks(args.shared_w3)};
  const int with_beside = slots + (beside.post != nullptr ? 1 : 0);
  if (rows_may_share(w1.rows, slots))
    launch(stream, up_kernel<kSharing>, dim3(tiles(w1.rows, kSharing), with_beside, batch), 32 * kWarps, 0,
           args, chunked, slots, beside);
  else
    launch(stream, up_kernel<1>, dim3(tiles(w1.rows, 1), with_beside, batch), 32 * kWarps, 0, args, chunked,
           slots, beside);
}

void experts_down(cudaStream_t stream, const ExpertsDown& args, int batch) {
  const Matrix& w2 = args.w2.first;
  if (w2.layout == Layout::kTiles)
    return stream_slots(stream, args.w2, args.shared_w2, args.chosen, args.slots, batch, {}, args.room,
                        [&](const Matrix& w, int slot) {
                          return slot_task(w, args.x, args.x_slots, args.out, args.out_slots, w.rows, slot);
                        });
  const int slots = args.slots + (args.shared_w2.data != nullptr ? 1 : 0);
  const bool chunked = whole_chunks(w2), shared_chunked = whole_chunks(args.shared_w2);
  if (rows_may_share(w2.rows, slots))
    launch(stream, down_kernel<kSharing>, dim3(tiles(w2.rows, kSharing), slots, batch), 32 * kWarps, 0, args,
           chunked, shared_chunked);
  else
    launch(stream, down_kernel<1>, dim3(tiles(w2.rows, 1), slots, batch), 32 * kWarps, 0, args, chunked,
           shared_chunked);
}

}  // namespace dsv4::kernels
