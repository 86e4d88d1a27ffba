// Small work beside streamed matrices (stream.h), by a block of kThreads threads for one row.
#pragma once

#include "kernels/compressor.cuh"
#include "kernels/hyper_connection.cuh"
#include "kernels/norm_rope.cuh"
#include "kernels/stream.h"

namespace dsv4::kernels {

constexpr int kBesideThreads = 512;  // whichever kernel does it: a row's sums follow from their number

// The `which`-th of what there is, for row b. It does the kernel's waiting.
__device__ inline void do_beside(const Beside& beside, int which, int b, std::byte* memory) {
  if (which < beside.compressors)
    return compress_row<kBesideThreads>(beside.compressor[which], b, reinterpret_cast<float*>(memory));
  which -= beside.compressors;
  if (beside.has_norm_rope && which == 0) return norm_rope_head<kBesideThreads>(beside.norm_rope, 0, b);
  mix_row(beside.mix, b);
}

}  // namespace dsv4::kernels
