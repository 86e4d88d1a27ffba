#include "kernels/gemv.h"

#include "kernels/dequantise.cuh"
#include "kernels/launch.h"
#include "kernels/reduce.cuh"

namespace dsv4::kernels {
namespace {

constexpr int kWarps = 8;

struct Plan {
  GemvTask task[kMostGemvTasks];
  int first_block[kMostGemvTasks];
  int warps_per_row[kMostGemvTasks];
  bool chunked[kMostGemvTasks];
  int count, batch;
};

// A block takes kWarps / warps_per_row rows of one task for NB rows of the batch.
template <int NB>
__global__ void __launch_bounds__(32 * kWarps) gemv_kernel(const __grid_constant__ Plan plan) {
  let_next_start();
  __shared__ float part[kWarps][NB];
  int t = 0;
  while (t + 1 < plan.count && static_cast<int>(blockIdx.x) >= plan.first_block[t + 1]) ++t;
  const GemvTask& task = plan.task[t];
  const int warps_per_row = plan.warps_per_row[t], rows_per_block = kWarps / warps_per_row;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int first_row = (blockIdx.x - plan.first_block[t]) * rows_per_block;
  const int row = first_row + warp / warps_per_row, first_b = blockIdx.y * NB;
  const int part_of_row = warp % warps_per_row * 32 + lane, step = 32 * warps_per_row;
  Ahead ahead{};
  if (row < task.w.rows) ahead = fetch_first(task.w, row, part_of_row, step, plan.chunked[t]);
  wait_for_previous();
  float sum[NB] = {};
  if (row < task.w.rows) {
    const float* x[NB];
    const int group = task.rows_per_group > 0 ? row / task.rows_per_group : 0;
#pragma unroll
    for (int b = 0; b < NB; ++b)
      x[b] = task.x + static_cast<std::int64_t>(min(first_b + b, plan.batch - 1)) * task.x_stride +
             static_cast<std::int64_t>(group) * task.w.cols;
    add_dot<NB>(task.w, row, x, part_of_row, step, plan.chunked[t], ahead, sum);
  }
#pragma unroll
  for (int b = 0; b < NB; ++b) {
    const float v = warp_sum(sum[b]);
    if (lane == 0) part[warp][b] = v;
  }
  __syncthreads();
  const int b = threadIdx.x % NB, r = threadIdx.x / NB;
  if (r >= rows_per_block || first_row + r >= task.w.rows || first_b + b >= plan.batch) return;
  float y = 0;
  for (int w = 0; w < warps_per_row; ++w) y += part[r * warps_per_row + w][b];
  task.y[static_cast<std::int64_t>(first_b + b) * task.y_stride + first_row + r] = y * task.factor;
}

// Enough warps for the chip whatever the shape; never by the batch, so that a row gets the same sums in every
// bucket.
int warps_per_row(const Matrix& w) {
  constexpr int kWarpsOfTheChip = 132 * 16;
  int warps = 1;
  while (warps < kWarps && w.rows * warps * 2 <= kWarpsOfTheChip && w.cols >= warps * 2 * 256) warps *= 2;
  return warps;
}

template <int NB>
void launch_rows(cudaStream_t stream, const Plan& plan, int blocks) {
  const dim3 grid(blocks, (plan.batch + NB - 1) / NB);
  launch(stream, gemv_kernel<NB>, grid, 32 * kWarps, 0, plan);
}

}  // namespace

void gemv(cudaStream_t stream, const GemvTasks& tasks, int batch) {
  Plan plan{};
  int blocks = 0;
  for (int i = 0; i < tasks.count; ++i) {
    const GemvTask& task = tasks.task[i];
    plan.task[i] = task;
    plan.first_block[i] = blocks;
    plan.warps_per_row[i] = warps_per_row(task.w);
    plan.chunked[i] = whole_chunks(task.w) && task.x_stride % 4 == 0;
    const int rows_per_block = kWarps / plan.warps_per_row[i];
    blocks += (task.w.rows + rows_per_block - 1) / rows_per_block;
  }
  plan.count = tasks.count;
  plan.batch = batch;
  if (batch == 1)
    launch_rows<1>(stream, plan, blocks);
  else if (batch == 2)
    launch_rows<2>(stream, plan, blocks);
  else if (batch <= 4)
    launch_rows<4>(stream, plan, blocks);
  else
    launch_rows<8>(stream, plan, blocks);
}

}  // namespace dsv4::kernels
