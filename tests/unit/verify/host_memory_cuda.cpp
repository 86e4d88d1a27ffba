// CUDA's run-time calls that verify.h makes, on host memory.
#include <cuda_runtime_api.h>

#include <cstdlib>
#include <cstring>

extern "C" {
cudaError_t cudaDeviceSynchronize() {
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) {
  if (!to || !from) return cudaErrorInvalidValue;
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemset(void* at, int value, size_t bytes) {
  std::memset(at, value, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* at, int value, size_t bytes, cudaStream_t) {
  return cudaMemset(at, value, bytes);
}
cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  *free = *total = size_t{1} << 20;
  return cudaSuccess;
}
cudaError_t cudaMalloc(void** at, size_t bytes) {
  *at = std::malloc(bytes);
  return cudaSuccess;
}
cudaError_t cudaFree(void* at) {
  std::free(at);
  return cudaSuccess;
}
cudaError_t cudaMallocAsync(void**, size_t, cudaStream_t) {
  return cudaErrorNotSupported;
}
cudaError_t cudaFreeAsync(void*, cudaStream_t) {
  return cudaErrorNotSupported;
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t*, int) {
  return cudaErrorNotSupported;
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) {
  return cudaErrorNotSupported;
}
cudaError_t cudaGetLastError() {
  return cudaSuccess;
}
const char* cudaGetErrorName(cudaError_t) {
  return "cudaErrorInvalidValue";
}
const char* cudaGetErrorString(cudaError_t) {
  return "invalid argument";
}
}
