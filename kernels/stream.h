// Matrices in tiles (tiles.h) times one or more vectors, several in one launch, at the speed of memory: the
// loop of every large matrix of the step.
//
//   y[r] = W x[r] factor, or silu(min(W1 x, limit)) clamp(W3 x, -limit, limit) of a pair of matrices; x, y
//   float32
//   bytes: W once for each kRows vectors (stream_formats.cuh) and for an expert once for each kRows rows
//   that chose it, x and y; FLOPs: 2 rows cols a vector, in the tensor cores 8 to 12 times as many
//
// One block an SM takes an equal share of the bytes. Each of its 16 warps keeps the limbs of its slice of x
// in registers and walks over tiles; slices meet in shared memory, in their order. Sums depend on the shape
// alone: neither on the number of blocks nor of vectors.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/compressor.h"
#include "kernels/hyper_connection.h"
#include "kernels/matrix.h"
#include "kernels/norm_rope.h"

namespace dsv4::kernels {

struct StreamTask {
  Matrix w;  // in tiles
  const float* x = nullptr;
  float* y = nullptr;
  std::int64_t x_stride = 0, y_stride = 0;  // floats between rows of the batch
  float factor = 1;
  // The vector is normalised first: x / rms(x) * norm [cols]. Null: it is not. `normed` [batch, cols], if
  // there, gets the result, too.
  const float* norm = nullptr;
  float* normed = nullptr;
  float eps = 0;
  // A pair (lay_out_pair): rows g and g + 8 of a tile make one output.
  bool pair = false;
  float limit = 0;
  // Which of the matrices from `w` on, `matrix_stride` bytes apart, is chosen[row * slots + slot]'s; the
  // vector is then x + row * x_stride + slot * x_slot_stride, and so for y. Null: it is w for every row.
  const int* chosen = nullptr;
  std::int64_t matrix_stride = 0, x_slot_stride = 0, y_slot_stride = 0;
  int slots = 0, slot = 0;
};

constexpr int kMostStreamTasks = 16;

// Small work that does not need what is streamed: each has a block of its own for a row, beside the others.
struct Beside {
  HyperConnectionMix mix{};  // with `post`
  Compressor compressor[2];
  int compressors = 0;
  NormRope norm_rope;
  bool has_norm_rope = false;
  constexpr int count() const {
    return (mix.post != nullptr ? 1 : 0) + compressors + (has_norm_rope ? 1 : 0);
  }
};

struct ProductRoom;

struct StreamTasks {
  StreamTask task[kMostStreamTasks];
  int count = 0;
  // Where there is room, many vectors are multiplied at once (product.h).
  const ProductRoom* room = nullptr;
  void add(const StreamTask& t) { task[count++] = t; }
  bool full() const { return count == kMostStreamTasks; }
};

void stream_weights(cudaStream_t stream, const StreamTasks& tasks, int batch, const Beside& beside = {});

// Once at the start: shared memory for the kernels.
cudaError_t prepare_streams();

}  // namespace dsv4::kernels
