#pragma once
#include <cuda_runtime.h>

void attention(float* x, cudaStream_t s);
void moe(float* x, const int* counts, cudaStream_t s);
void flush(cudaStream_t s);
int pending(cudaStream_t s);
