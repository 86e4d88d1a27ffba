// From the end of one sub-layer to the input of the next, for four residual streams and a float32 mixer (the
// published models'): two kernels over many SMs instead of three, one of which is one block.
//
//   streams = post y + comb^T streams            (where there is a sub-layer before; hyper_connection.h)
//   logits = fn streams; inverse = 1 / rms(streams)
//   collapsed = sum_k pre[k] streams[k]; normed = collapsed / rms(collapsed) * norm
//
// The first kernel writes, for each 32 channels, its part of the 24 logits and of the streams' ten products
// <streams[j], streams[k]>; from these the second has rms(streams) and, being sum_jk pre[j] pre[k] <j, k>,
// rms(collapsed) before any channel is collapsed. Parts are summed in double, in a fixed order.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/hyper_connection.h"
#include "kernels/matrix.h"

namespace dsv4::kernels {

constexpr int kBoundaryStreams = 4, kBoundaryChannels = 32;
constexpr int kBoundaryProducts = kBoundaryStreams * (kBoundaryStreams + 1) / 2;

// Whether there is a kernel for it.
inline bool has_boundary(const Matrix& fn, int n, int d) {
  return n == kBoundaryStreams && d % kBoundaryChannels == 0 && fn.format == Format::kF32 &&
         fn.layout == Layout::kRows;
}
// Floats of `parts` for one row.
constexpr int boundary_parts(int d) {
  return ((2 + kBoundaryStreams) * kBoundaryStreams + kBoundaryProducts) * (d / kBoundaryChannels);
}

struct Boundary {
  float* streams;   // [batch, 4, D]
  const float* fn;  // [24, 4 D], or [4, 4 D] at the head
  float* parts;     // [batch, boundary_parts(D)]
  int d;
  bool head;
  const float *post, *comb;  // of the sub-layer that ends; unused where none does
};

// No sub-layer before; one that gave y [batch, D]; experts.
//   bytes a row: 16 D read (and written where a sub-layer ends), y; bytes of fn once a row, from cache
//   after the first; FLOPs: 8 D + 2 (24 + 10) 4 D
void boundary(cudaStream_t stream, const Boundary& args, int batch);
void boundary(cudaStream_t stream, const Boundary& args, const float* y, int batch);
void boundary(cudaStream_t stream, const Boundary& args, const ExpertSum& y, int batch);

// The rest, as hyper_connection_site, but that it writes `logits`, too.
//   bytes a row: 16 D read, 8 D written, parts once for each 256 channels; FLOPs: 10 D
void boundary_site(cudaStream_t stream, const HyperConnectionSite& site, float* logits, const float* parts,
                   int batch);

}  // namespace dsv4::kernels
