// The compressors' decode state: a token's projections go into a ring; the token that closes a window also
// makes its entry (a softmax over the ring for each channel, norm, rotation to the window's first position).
//
//   kv, gate [batch, width]; ape [ratio, width]; rings [rows, slots, width]; entries [pages, per_page, dim];
//   all float32
// Several lanes may feed one row, at positions that follow one another: of these, projections are taken from
// where they were made, since the rings get them in the same launch; `slots` is `ring` and as many as there
// are besides the first.
//   bytes a row: 16 width; when a window closes 8 ring dim more; FLOPs then: 6 ring dim
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/pages.h"

namespace dsv4::kernels {

struct Compressor {
  const float *kv, *gate, *ape, *norm;
  float *kv_ring, *gate_ring, *entries;
  int ratio, ring, slots, width, dim, max_entries;
  bool overlap;  // two windows: the earlier with the first half of its channels, the later with the second
  const float* frequencies;
  int pairs;
  const int* positions;
  float eps;
  Pages pages{};
  const int* rows = nullptr;  // [lanes]: of which row a lane is (lanes.h); null: lane b of row b
  int lanes = 0;              // those that may share a row, at most kMostLanes; 0: none do
};

void compress(cudaStream_t stream, const Compressor& args, int batch);
// Two that do not depend on one another, in one launch.
void compress(cudaStream_t stream, const Compressor& a, const Compressor& b, int batch);

}  // namespace dsv4::kernels
