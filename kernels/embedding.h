// The fed token's embedding, once for each residual stream.
//
//   table [vocab, D] in any format, ids [batch] int32, streams [batch, N, D] float32
//   bytes a row: D of the table read, 4 N D written; no FLOPs
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/matrix.h"

namespace dsv4::kernels {

void embed(cudaStream_t stream, const Matrix& table, const int* ids, float* streams, int n, int batch);

}  // namespace dsv4::kernels
