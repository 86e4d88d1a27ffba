#include "kernels/gemv.h"

#include "kernels/dequantise.cuh"
#include "kernels/follow.cuh"
#include "kernels/launch.h"
#include "kernels/reduce.cuh"

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

// A block takes kWarps >> warps_log2 rows of one task for NB rows of the batch.
template <int NB>
__global__ void __launch_bounds__(32 * kWarps) gemv_kernel(const __grid_constant__ Plan plan) {
  __shared__ float part[kWarps][NB];
  let_next_start();
  int t = 0;
  while (t + 1 < plan.count && static_cast<int>(blockIdx.x) >= plan.first_block[t + 1]) ++t;
  const Plan::Entry& entry = plan.entry[t];
  const GemvTask& task = entry.task;
  const int log2 = entry.warps_log2, rows_log2 = kWarpsLog2 - log2;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int first_row = (static_cast<int>(blockIdx.x) - plan.first_block[t]) << rows_log2;
  const int row = first_row + (warp >> log2), first_b = blockIdx.y * NB;
  const int part_of_row = (warp & ((1 << log2) - 1)) * 32 + lane, step = 32 << log2;
  Ahead ahead{};
  if (row < task.w.rows) ahead = fetch_first(task.w, row, part_of_row, step, entry.chunked);
  std::int64_t x_at = 0;
  if (task.rows_per_group > 0) x_at = static_cast<std::int64_t>(row / task.rows_per_group) * task.w.cols;
  const float* x[NB];
#pragma unroll
  for (int b = 0; b < NB; ++b)
    x[b] = task.x + x_at + static_cast<std::int64_t>(min(first_b + b, plan.batch - 1)) * task.x_stride;
  wait_for_previous();

  float sum[NB] = {};
  if (row < task.w.rows) add_dot<NB>(task.w, row, x, part_of_row, step, entry.chunked, ahead, sum);
  if (NB == 1 && log2 == 0) {  // the row is the warp's own
    const float v = warp_sum(sum[0]);
    if (lane == 0 && row < task.w.rows)
      task.y[static_cast<std::int64_t>(first_b) * task.y_stride + row] = v * task.factor;
    return;
  }
#pragma unroll
  for (int b = 0; b < NB; ++b) {
    const float v = warp_sum(sum[b]);
    if (lane == 0) part[warp][b] = v;
  }
  __syncthreads();
  const int b = threadIdx.x % NB, r = threadIdx.x / NB;
  if (r >= 1 << rows_log2 || first_row + r >= task.w.rows || first_b + b >= plan.batch) return;
  float y = 0;
  for (int w = 0; w < 1 << log2; ++w) y += part[(r << log2) + w][b];
  task.y[static_cast<std::int64_t>(first_b + b) * task.y_stride + first_row + r] = y * task.factor;
}

// Enough warps for the chip whatever the shape; never by the batch, so that a row gets the same sums in every
// bucket.
int warps_log2(const Matrix& w) {
  constexpr int kWarpsOfTheChip = 132 * 16;
  int log2 = 0;
  while (log2 < kWarpsLog2 && (w.rows << (log2 + 1)) <= kWarpsOfTheChip && w.cols >= 512 << log2) ++log2;
  return log2;
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
    plan.first_block[i] = blocks;
    plan.entry[i] = {task, warps_log2(task.w), whole_chunks(task.w) && task.x_stride % 4 == 0};
    const int rows_per_block = kWarps >> plan.entry[i].warps_log2;
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
