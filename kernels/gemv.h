// y = W x for a few rows x at once, several matrices in one launch; weights are dequantised in registers.
//
//   W [rows, cols] in any format, x [batch, cols] float32, y [batch, rows] float32
//   bytes: W once for up to 8 rows of the batch, and x and y; FLOPs: 2 * rows * cols * batch
// Matrices in tiles are streamed (stream.h), the others in a launch of their own.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/matrix.h"

namespace dsv4::kernels {

struct GemvTask {
  Matrix w;
  const float* x = nullptr;
  int x_stride = 0;  // floats between rows of the batch; a multiple of 4
  float* y = nullptr;
  int y_stride = 0;
  // Grouped projections: rows [g * rows_per_group, (g + 1) * rows_per_group) read x + g * cols. 0: no groups.
  // In tiles a multiple of kTileRows.
  int rows_per_group = 0;
  float factor = 1;  // of every y
};

constexpr int kMostGemvTasks = 8;

struct GemvTasks {
  GemvTask task[kMostGemvTasks];
  int count = 0;
  void add(const GemvTask& t) { task[count++] = t; }
};

void gemv(cudaStream_t stream, const GemvTasks& tasks, int batch);

}  // namespace dsv4::kernels
