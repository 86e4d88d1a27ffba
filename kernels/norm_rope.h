// Root-mean-square norm of each head and rotation of its trailing dimensions, each optional.
//
//   in, out [batch, heads, dim] float32 (may be the same), positions [batch] int32
//   bytes a row: 8 heads dim; FLOPs: 3 heads dim + 6 heads pairs
#pragma once

#include <cuda_runtime_api.h>

namespace dsv4::kernels {

struct NormRope {
  const float* in;
  float* out;
  int heads, dim;
  bool normalise;
  const float* weight;       // [dim], or null
  const float* frequencies;  // [pairs] radians a position, or null: no rotation
  int pairs;
  const int* positions;  // null where there is neither rotation nor window
  float eps;
  // Where the result goes too: slot position mod window_slots of [rows, window_slots, dim], one head. Or
  // null.
  float* window;
  int window_slots;
  const int* rows = nullptr;  // [batch]: of which row a lane is (lanes.h); null: lane b of row b
};

constexpr int kMostNormRopes = 3;

// Several that do not depend on one another, in one launch.
struct NormRopes {
  NormRope task[kMostNormRopes];
  int count = 0;
  void add(const NormRope& t) { task[count++] = t; }
};

void norm_rope(cudaStream_t stream, const NormRope& args, int batch);
void norm_rope(cudaStream_t stream, const NormRopes& tasks, int batch);

}  // namespace dsv4::kernels
