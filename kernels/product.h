// Matrices in tiles times many vectors at once: what stream_weights does where a pass for every few vectors
// would read the matrices again and again.
//
//   bytes: W once, the limbs of x (kLimbs halves a value) once for each 128 rows of W; y
//   FLOPs: 2 rows cols a vector, in the tensor cores twice (FP8) or three times (BF16) as many
//
// A first kernel makes the vectors' limbs (stream_formats.cuh), in the order in which warps meet them. In the
// second a block takes 128 rows of a matrix and slices_together of its slices; where these are not all, the
// last block of the rows adds up what each has left. Sums are those of stream_weights, bit for bit.
#pragma once

#include "kernels/stream.h"

namespace dsv4::kernels {

// Vectors up to which passes are as good.
constexpr int kFewVectors = 4;

// Buffers that launches share, one after the other; `counts` are zero between them.
struct ProductRoom {
  void* limbs = nullptr;
  float *units = nullptr, *parts = nullptr;
  unsigned* counts = nullptr;
  std::int64_t limb_bytes = 0, unit_floats = 0, part_floats = 0, most_counts = 0;
};

// Room for vectors of altogether `cols` columns in one launch (each format of a vector counts), rounded up to
// slices, and for all that stream_weights is asked to multiply by a model's matrices.
ProductRoom product_room(std::int64_t cols, int batch);

// Whether the task is one for this kernel.
bool has_product(const StreamTask& task);

// False, and nothing is done, where the room does not suffice.
bool multiply(cudaStream_t stream, const StreamTasks& tasks, int batch, const Beside& beside,
              const ProductRoom& room);

// Once at the start.
cudaError_t prepare_products();

}  // namespace dsv4::kernels
