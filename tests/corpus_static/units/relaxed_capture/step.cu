#include "step.h"

__global__ void work() {}
static void* scratch;

void allocates(cudaStream_t stream) {
  void* p = nullptr;
  cudaMalloc(&p, 64);             // EXPECT: device-alloc:warning
  cudaStreamSynchronize(stream);  // EXPECT: host-sync
}

void on_the_default_stream(cudaStream_t stream) {
  work<<<1, 1>>>();  // CLEAN: default-stream, an eager step may
  work<<<1, 1, 0, stream>>>();  // CLEAN: default-stream
  cudaMalloc(&scratch, 64);  // EXPECT: device-alloc
}

void first_use() {
  if (scratch) return;
  cudaMalloc(&scratch, 64);  // EXPECT: device-alloc:note
}
