#include "kernels/gemv.h"

#include "kernels/compressor.h"
#include "kernels/dequantise.cuh"
#include "kernels/follow.cuh"
#include "kernels/launch.h"
#include "kernels/norm_rope.h"
#include "kernels/reduce.cuh"
#include "kernels/stream.h"
#include "kernels/tiles.h"

namespace dsv4::kernels {
namespace {

constexpr int kWarpsLog2 = 3, kWarps = 1 << kWarpsLog2;

struct Plan {
  int first_block[kMostGemvTasks];
  int count, batch;
  struct Entry {
    GemvTask task;
    int warps_log2;  // of the warps that share a row
    bool chunked;
  } entry[kMostGemvTasks];
};

// A block takes R rows for each kWarps >> warps_log2 of one task, for NB rows of the batch.
template <int NB, int R>
__global__ void __launch_bounds__(32 * kWarps) gemv_kernel(const __grid_constant__ Plan plan) {
  __shared__ float part[kWarps][R][NB];
  let_next_start();
  int t = 0;
  while (t + 1 < plan.count && static_cast<int>(blockIdx.x) >= plan.first_block[t + 1]) ++t;
  const Plan::Entry& entry = plan.entry[t];
  const GemvTask& task = entry.task;
  const int log2 = entry.warps_log2, groups = kWarps >> log2;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int first_row = (static_cast<int>(blockIdx.x) - plan.first_block[t]) * groups * R;
  const int row = first_row + (warp >> log2) * R, first_b = blockIdx.y * NB;
  const int part_of_row = (warp & ((1 << log2) - 1)) * 32 + lane, step = 32 << log2;
  Ahead<R> ahead{};
  if (row < task.w.rows) ahead = fetch_first<R>(task.w, row, part_of_row, step, entry.chunked);
  std::int64_t x_at = 0;
  if (task.rows_per_group > 0) x_at = static_cast<std::int64_t>(row / task.rows_per_group) * task.w.cols;
  const float* x[NB];
#pragma unroll
  for (int b = 0; b < NB; ++b)
    x[b] = task.x + x_at + static_cast<std::int64_t>(min(first_b + b, plan.batch - 1)) * task.x_stride;
  wait_for_previous();

  float sum[R][NB] = {};
  if (row < task.w.rows) add_dot<NB, R>(task.w, row, x, part_of_row, step, entry.chunked, ahead, sum);
#pragma unroll
  for (int r = 0; r < R; ++r)
#pragma unroll
    for (int b = 0; b < NB; ++b) sum[r][b] = warp_sum(sum[r][b]);
  if (NB == 1 && log2 == 0) {  // the rows are the warp's own
#pragma unroll
    for (int r = 0; r < R; ++r)
      if (lane == r && row < task.w.rows)
        task.y[static_cast<std::int64_t>(first_b) * task.y_stride + row + r] = sum[r][0] * task.factor;
    return;
  }
  if (lane == 0)
#pragma unroll
    for (int r = 0; r < R; ++r)
#pragma unroll
      for (int b = 0; b < NB; ++b) part[warp][r][b] = sum[r][b];
  __syncthreads();
  const int b = threadIdx.x % NB, r = threadIdx.x / NB % R, group = threadIdx.x / (NB * R);
  const int out = first_row + group * R + r;
  if (group >= groups || out >= task.w.rows || first_b + b >= plan.batch) return;
  float y = 0;
  for (int w = 0; w < 1 << log2; ++w) y += part[(group << log2) + w][r][b];
  task.y[static_cast<std::int64_t>(first_b + b) * task.y_stride + out] = y * task.factor;
}

// Enough warps for the chip whatever the shape; never by the batch, so that a row gets the same sums in every
// bucket.
int warps_log2(const Matrix& w) {
  constexpr int kWarpsOfTheChip = 132 * 16;
  int log2 = 0;
  while (log2 < kWarpsLog2 && (w.rows << (log2 + 1)) <= kWarpsOfTheChip && w.cols >= 512 << log2) ++log2;
  return log2;
}

template <int NB, int R>
void launch_rows(cudaStream_t stream, const Plan& plan, int blocks) {
  const dim3 grid(blocks, (plan.batch + NB - 1) / NB);
  launch(stream, gemv_kernel<NB, R>, grid, 32 * kWarps, 0, plan);
}

// Rows that share what is read of x: where there is enough left for every SM, and no group is cut.
constexpr int kSharing = 4;
bool rows_may_share(const GemvTasks& tasks) {
  constexpr int kWarpsOfTheChip = 132 * 8;
  int warps = 0;
  for (int i = 0; i < tasks.count; ++i) {
    const GemvTask& task = tasks.task[i];
    if (task.w.rows % kSharing != 0 || task.rows_per_group % kSharing != 0) return false;
    warps += (task.w.rows << warps_log2(task.w)) / kSharing;
  }
  return warps >= kWarpsOfTheChip;
}

void gemv_by_rows(cudaStream_t stream, const GemvTasks& tasks, int batch) {
  Plan plan{};
  int blocks = 0;
  const int rows_of_a_warp = batch == 1 && rows_may_share(tasks) ? kSharing : 1;
  for (int i = 0; i < tasks.count; ++i) {
    const GemvTask& task = tasks.task[i];
    plan.first_block[i] = blocks;
    plan.entry[i] = {task, warps_log2(task.w), whole_chunks(task.w) && task.x_stride % 4 == 0};
    const int rows_per_block = (kWarps >> plan.entry[i].warps_log2) * rows_of_a_warp;
    blocks += (task.w.rows + rows_per_block - 1) / rows_per_block;
  }
  plan.count = tasks.count;
  plan.batch = batch;
  if (rows_of_a_warp == kSharing)
    launch_rows<1, kSharing>(stream, plan, blocks);
  else if (batch == 1)
    launch_rows<1, 1>(stream, plan, blocks);
  else if (batch == 2)
    launch_rows<2, 1>(stream, plan, blocks);
  else if (batch <= 4)
    launch_rows<4, 1>(stream, plan, blocks);
  else
    launch_rows<8, 1>(stream, plan, blocks);
}

// A task in tiles; of a grouped one the rows of one group, whose number is a multiple of kTileRows.
StreamTask group_of(const GemvTask& task, int group) {
  StreamTask out;
  const int rows = task.rows_per_group > 0 ? task.rows_per_group : task.w.rows;
  out.w = task.w;
  out.w.rows = rows;
  out.w.data = static_cast<const char*>(task.w.data) + group * tiled_bytes(task.w.format, rows, task.w.cols);
  out.x = task.x + static_cast<std::int64_t>(group) * task.w.cols;
  out.x_stride = task.x_stride;
  out.y = task.y + static_cast<std::int64_t>(group) * rows;
  out.y_stride = task.y_stride;
  out.factor = task.factor;
  out.norm = task.norm;
  out.normed = task.keeps_normed ? task.normed : nullptr;
  out.eps = task.eps;
  return out;
}

void do_alone(cudaStream_t stream, const Beside& beside, int batch) {
  if (beside.compressors == 2)
    compress(stream, beside.compressor[0], beside.compressor[1], batch);
  else if (beside.compressors == 1)
    compress(stream, beside.compressor[0], batch);
  if (beside.has_norm_rope) norm_rope(stream, beside.norm_rope, batch);
}

// The norm of what matrices by rows read.
void normalise(cudaStream_t stream, const GemvTask& task, int batch) {
  NormRope norm{};
  norm.in = task.x;
  norm.out = task.normed;
  norm.heads = 1;
  norm.dim = task.w.cols;
  norm.normalise = true;
  norm.weight = task.norm;
  norm.eps = task.eps;
  norm_rope(stream, norm, batch);
}

}  // namespace

StreamTask stream_task(const GemvTask& task) {
  return group_of(task, 0);
}

void gemv(cudaStream_t stream, const GemvTasks& tasks, int batch, const Beside& beside) {
  GemvTasks by_rows;
  StreamTasks in_tiles;
  in_tiles.room = tasks.room;
  bool normalised = false;
  for (int i = 0; i < tasks.count; ++i) {
    const GemvTask& task = tasks.task[i];
    if (task.w.layout == Layout::kRows) {
      GemvTask own = task;
      if (task.norm != nullptr) {
        if (!normalised) normalise(stream, task, batch);
        normalised = true;
        own.x = task.normed;
        own.x_stride = task.w.cols;
      }
      by_rows.add(own);
      continue;
    }
    const int groups = task.rows_per_group > 0 ? task.w.rows / task.rows_per_group : 1;
    for (int group = 0; group < groups; ++group) {
      if (in_tiles.full()) {
        stream_weights(stream, in_tiles, batch);
        in_tiles.count = 0;
      }
      in_tiles.add(group_of(task, group));
    }
  }
  if (by_rows.count > 0) gemv_by_rows(stream, by_rows, batch);
  if (in_tiles.count > 0)
    stream_weights(stream, in_tiles, batch, beside);
  else
    do_alone(stream, beside, batch);
}

}  // namespace dsv4::kernels
