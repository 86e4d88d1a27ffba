// A generated tensor made where it is needed: the same bits as generate_rows (engine/weights/generator.h)
// gives on the host.
//
//   bytes: the tensor once; operations: about 20 integer ones an element
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "engine/weights/generator.h"

namespace dsv4::kernels {

// `count` stored elements (bytes for FP4, each of which holds two) from the tensor's first on. A type that
// the generator does not write leaves `out` as it is.
void generate_elements(cudaStream_t stream, const ElementRule& rule, DType type, std::int64_t count,
                       void* out);

}  // namespace dsv4::kernels
