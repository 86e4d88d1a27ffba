// Room for dynamic shared memory, set once at the start.
#pragma once

#include <cuda_runtime.h>

namespace dsv4::kernels {

// Raises the kernel's limit to `bytes` if it is lower; another engine of the process may need what it has.
template <class Kernel>
cudaError_t allow_shared_memory(Kernel* kernel, int bytes) {
  cudaFuncAttributes now{};
  const cudaError_t status = cudaFuncGetAttributes(&now, kernel);
  if (status != cudaSuccess || now.maxDynamicSharedSizeBytes >= bytes) return status;
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}

}  // namespace dsv4::kernels
