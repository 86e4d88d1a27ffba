// A region whose way leads through another source back into the region's own.
#include "runtime.h"

void CudaRuntime::copy(void* to, const void* from, size_t bytes) const {
  cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice);  // EXPECT: sync-copy
}
void CudaRuntime::wait(cudaStream_t stream) const {
  cudaStreamSynchronize(stream);  // EXPECT: host-sync
}
void CudaRuntime::upload(void* to, const void* from, size_t bytes) const {
  cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice);  // CLEAN: sync-copy, nothing calls it in a region
}
void CudaRuntime::drain() const {
  cudaDeviceSynchronize();  // CLEAN: host-sync, only what is no kernel calls it
}

void capture(const CudaRuntime& runtime, const Kernel& kernel, cudaStream_t stream) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  kernel.compute(runtime, stream);
  cudaStreamEndCapture(stream, &graph);
}
