// y = W x for a few rows x at once, several matrices in one launch; weights are dequantised in registers.
//
//   W [rows, cols] in any format, x [batch, cols] float32, y [batch, rows] float32
//   bytes: W once for up to 8 rows of the batch, and x and y; FLOPs: 2 * rows * cols * batch
// Matrices in tiles are streamed (stream.h), the others in a launch of their own.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/matrix.h"
#include "kernels/stream.h"

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
  // x is normalised first, x / rms(x) * norm [cols], and then at `normed` [batch, cols]: always where the
  // matrix is by rows, in tiles if `keeps_normed`. Null: it is as it should be. Tasks of one launch that
  // normalise have the same x.
  const float* norm = nullptr;
  float* normed = nullptr;
  bool keeps_normed = false;
  float eps = 0;
};

constexpr int kMostGemvTasks = 8;

struct GemvTasks {
  GemvTask task[kMostGemvTasks];
  int count = 0;
  const ProductRoom* room = nullptr;  // of stream_weights
  void add(const GemvTask& t) { task[count++] = t; }
};

// `beside` is done beside the streaming blocks, or in launches of its own where there are none.
void gemv(cudaStream_t stream, const GemvTasks& tasks, int batch, const Beside& beside = {});

// A matrix in tiles as a task of stream_weights.
StreamTask stream_task(const GemvTask& task);

}  // namespace dsv4::kernels
