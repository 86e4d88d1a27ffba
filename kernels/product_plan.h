// What the two kernels of a product are given (product.h).
#pragma once

#include "kernels/product.h"

namespace dsv4::kernels {

constexpr int kProductRows = 128, kProductTiles = kProductRows / 16;
// Rows of matrices times parts of each, in one launch.
constexpr std::int64_t kMostPartRows = 1 << 16;
constexpr int kVectorsTogether = 8;  // columns of an mma

// Vectors of one launch, in one format's limbs.
struct ProductVectors {
  const float* x;
  const float* norm;
  std::int64_t x_stride;
  std::int64_t limbs_at;  // in words of 16 bytes
  int units_at;           // floats: a unit for each slice and vector; then, if normalised, squares
  int cols, slices, first_work;
  Format format;
  bool whole;  // x may be read four values at a time
};

struct ProductTask {
  const std::byte* data;
  float *y, *normed;
  const float* norm;
  std::int64_t y_stride, part_at;
  float factor, limit, eps;
  int vectors;  // which
  int rows, tiles, slices, together, parts;
  int first_block, count_at;
  Format format;
  bool pair;
};

struct ProductPlan {
  ProductVectors vectors[kMostStreamTasks];
  ProductTask task[kMostStreamTasks];
  ProductRoom room;
  int vector_count, task_count, batch, columns;  // n-tiles of the batch, as many as are made
  int work, blocks, most_stages_bytes;
};

}  // namespace dsv4::kernels
