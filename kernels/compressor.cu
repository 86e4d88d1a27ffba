#include "kernels/compressor.h"

#include <algorithm>

#include "kernels/compressor.cuh"
#include "kernels/launch.h"

namespace dsv4::kernels {
namespace {

constexpr int kThreads = 256;

struct Pair {
  Compressor of[2];
};

// A block is one row of the batch, for one of the two.
__global__ void __launch_bounds__(kThreads) compress_kernel(const __grid_constant__ Pair pair) {
  extern __shared__ float entry[];  // [dim]
  let_next_start();
  compress_row<kThreads>(pair.of[blockIdx.y], blockIdx.x, entry);
}

}  // namespace

void compress(cudaStream_t stream, const Compressor& args, int batch) {
  launch(stream, compress_kernel, batch, kThreads, args.dim * sizeof(float), Pair{{args, args}});
}

void compress(cudaStream_t stream, const Compressor& a, const Compressor& b, int batch) {
  launch(stream, compress_kernel, dim3(batch, 2), kThreads, std::max(a.dim, b.dim) * sizeof(float),
         Pair{{a, b}});
}

}  // namespace dsv4::kernels
