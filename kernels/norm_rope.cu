#include "kernels/norm_rope.h"

#include "kernels/launch.h"
#include "kernels/norm_rope.cuh"

namespace dsv4::kernels {
namespace {

constexpr int kThreads = 128;

// A block is one head of one task.
__global__ void __launch_bounds__(kThreads) norm_rope_kernel(const __grid_constant__ NormRopes tasks) {
  let_next_start();
  int head = blockIdx.x, t = 0;
  while (t + 1 < tasks.count && head >= tasks.task[t].heads) head -= tasks.task[t++].heads;
  norm_rope_head<kThreads>(tasks.task[t], head, blockIdx.y);
}

}  // namespace

void norm_rope(cudaStream_t stream, const NormRopes& tasks, int batch) {
  int heads = 0;
  for (int t = 0; t < tasks.count; ++t) heads += tasks.task[t].heads;
  launch(stream, norm_rope_kernel, dim3(heads, batch), kThreads, 0, tasks);
}

void norm_rope(cudaStream_t stream, const NormRope& args, int batch) {
  NormRopes one{};
  one.add(args);
  norm_rope(stream, one, batch);
}

}  // namespace dsv4::kernels
