#pragma once
#include <cuda_runtime.h>

void block(int layer, int mode, cudaStream_t stream);
void inner(int layer, cudaStream_t stream);
void once(int mode, cudaStream_t stream);
