#include "layer.h"

__global__ void scores(float* x);
__global__ void experts(float* x);

void attention(float* x, cudaStream_t s) {
  scores<<<1, 1, 0, s>>>(x);
  flush(s);
}

void moe(float* x, const int* counts, cudaStream_t s) {
  int n;
  cudaMemcpy(&n, counts, 4, cudaMemcpyDeviceToHost);  // EXPECT: sync-copy
  experts<<<n, 128, 0, s>>>(x);                       // EXPECT: device-sized
}

int pending(cudaStream_t s) { return cudaStreamQuery(s) == cudaSuccess; }  // CLEAN: host-poll
