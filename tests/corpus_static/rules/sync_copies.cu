// sync-copy: copies and memsets without a stream, and those that look like them.
#include <capgate/capgate.h>
#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstring>
#include <vector>

__global__ void work(float* p);
__device__ float table[16];

CAPGATE_REGION void runtime(float* d, float* e, float* pinned, cudaPitchedPtr pitched) {
  cudaMemcpyToSymbol(table, pinned, 64);              // EXPECT: sync-copy
  cudaMemcpyPeer(d, 1, e, 0, 64);                     // EXPECT: sync-copy
  cudaMemset2D(d, 64, 0, 64, 2);                      // EXPECT: sync-copy
  cudaMemset3D(pitched, 0, make_cudaExtent(4, 1, 1)); // EXPECT: sync-copy
}
CAPGATE_REGION void driver(CUdeviceptr d, CUdeviceptr e, float* pinned) {
  cuMemcpyHtoD(d, pinned, 64);  // EXPECT: sync-copy
  cuMemcpyDtoD(d, e, 64);       // EXPECT: sync-copy
  cuMemcpy(d, e, 64);           // EXPECT: sync-copy
  cuMemsetD8(d, 0, 64);         // EXPECT: sync-copy
  cuMemsetD32(d, 0, 16);        // EXPECT: sync-copy
}

// The host's own, and everything that goes to a stream.
CAPGATE_REGION void of_the_host(float* a, const float* b, std::vector<float>& list) {
  std::memcpy(a, b, 64);                   // CLEAN: sync-copy
  std::memmove(a + 1, a, 16);              // CLEAN: sync-copy
  std::memset(a, 0, 64);                   // CLEAN: sync-copy
  std::copy(b, b + 4, list.begin());       // CLEAN: sync-copy
}
CAPGATE_REGION void on_a_stream(float* d, float* e, float* pinned, cudaPitchedPtr pitched, cudaStream_t s) {
  cudaMemcpyToSymbolAsync(table, pinned, 64, 0, cudaMemcpyHostToDevice, s);    // CLEAN: sync-copy
  cudaMemcpyPeerAsync(d, 1, e, 0, 64, s);                                      // CLEAN: sync-copy
  cudaMemset2DAsync(d, 64, 0, 64, 2, s);                                       // CLEAN: sync-copy
  cudaMemset3DAsync(pitched, 0, make_cudaExtent(4, 1, 1), s);                  // CLEAN: sync-copy
  cudaMemcpy2DAsync(d, 64, e, 64, 64, 2, cudaMemcpyDeviceToDevice, s);         // CLEAN: sync-copy
  cudaMemcpyAsync(pinned, d, 64, cudaMemcpyDeviceToHost, s);                   // CLEAN: sync-copy
}
CAPGATE_REGION void driver_on_a_stream(CUdeviceptr d, CUdeviceptr e, float* pinned, CUstream s) {
  cuMemcpyHtoDAsync(d, pinned, 64, s);  // CLEAN: sync-copy
  cuMemcpyDtoDAsync(d, e, 64, s);       // CLEAN: sync-copy
  cuMemcpyAsync(d, e, 64, s);           // CLEAN: sync-copy
  cuMemsetD8Async(d, 0, 64, s);         // CLEAN: sync-copy
  cuMemsetD32Async(d, 0, 16, s);        // CLEAN: sync-copy
}
CAPGATE_REGION void asked(float* d, cudaStream_t s) {
  cudaStreamCaptureStatus status;
  cudaStreamIsCapturing(s, &status);
  if (status == cudaStreamCaptureStatusNone) cudaMemset(d, 0, 64);  // CLEAN: sync-copy
  if (status != cudaStreamCaptureStatusNone) return;
  cudaMemcpy(d, d + 16, 64, cudaMemcpyDeviceToDevice);              // CLEAN: sync-copy
}
void around_the_capture(float* d, const float* weights, float* out, cudaStream_t s) {
  cudaGraph_t g;
  cudaMemcpy(d, weights, 64, cudaMemcpyHostToDevice);  // CLEAN: sync-copy
  cudaMemcpyToSymbol(table, weights, 64);              // CLEAN: sync-copy
  cudaMemset(d, 0, 64);                                // CLEAN: sync-copy
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  work<<<1, 1, 0, s>>>(d);
  cudaStreamEndCapture(s, &g);
  cudaMemcpy(out, d, 64, cudaMemcpyDeviceToHost);      // CLEAN: sync-copy
}
void driver_outside(CUdeviceptr d, CUdeviceptr e, float* pinned) {
  cuMemcpyHtoD(d, pinned, 64);  // CLEAN: sync-copy
  cuMemcpyDtoH(pinned, d, 64);  // CLEAN: sync-copy
  cuMemcpyDtoD(d, e, 64);       // CLEAN: sync-copy
  cuMemsetD8(d, 0, 64);         // CLEAN: sync-copy
}
// A kernel may copy as it likes.
__global__ void moves(float* to, const float* from) {
  memcpy(to, from, 64);  // CLEAN: sync-copy
  memset(to, 0, 4);      // CLEAN: sync-copy
}
CAPGATE_REGION void by_a_kernel(float* d, const float* e, cudaStream_t s) {
  moves<<<1, 1, 0, s>>>(d, e);  // CLEAN: sync-copy
}
