#include "kernels/embedding.h"

#include "kernels/dequantise.cuh"
#include "kernels/follow.cuh"
#include "kernels/launch.h"

namespace dsv4::kernels {
namespace {

__global__ void embed_kernel(const Matrix table, const int* ids, float* streams, int n) {
  let_next_start();
  wait_for_previous();
  const int d = blockIdx.x * blockDim.x + threadIdx.x, b = blockIdx.y;
  if (d >= table.cols) return;
  const float v = value_at(table, ids[b], d);
  for (int k = 0; k < n; ++k) streams[(static_cast<std::int64_t>(b) * n + k) * table.cols + d] = v;
}

}  // namespace

void embed(cudaStream_t stream, const Matrix& table, const int* ids, float* streams, int n, int batch) {
  launch<Order::kAfterPrevious>(stream, embed_kernel, dim3((table.cols + 255) / 256, batch), 256, 0, table,
                                ids, streams, n);
}

}  // namespace dsv4::kernels
