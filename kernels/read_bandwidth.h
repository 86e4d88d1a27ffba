// Reads device memory and nothing else: what the chip can give, for the figures of a benchmark.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace dsv4::kernels {

// bytes: `size` (a multiple of 16), read once; `sink` [1] is written if all bytes are zero.
void read_all(cudaStream_t stream, const void* data, std::int64_t size, unsigned* sink);

}  // namespace dsv4::kernels
