#pragma once
#include <capgate/capgate.h>
#include <cuda_runtime.h>

void allocates(cudaStream_t stream);
void on_the_default_stream(cudaStream_t stream);
void first_use();
