// OPTIONS: --whole-file
// A kernel's arguments given as an array: what it only reads is no device value afterwards.
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

__global__ void scale(const int* rows, int* starts, float* x) {
  x[threadIdx.x] *= static_cast<float>(rows[0] + starts[threadIdx.x]);
}

int arrays() {
  int *rows, *starts;
  float* x;
  cudaMallocManaged(&rows, 64);
  cudaMallocManaged(&starts, 64);
  cudaMallocManaged(&x, 64);
  rows[0] = 3;
  starts[0] = 0;
  void* arguments[] = {&rows, &starts, &x};
  cudaLaunchCooperativeKernel(reinterpret_cast<void*>(scale), 1, 32, arguments, 0, nullptr);
  cudaDeviceSynchronize();
  int sum = 0;
  for (int i = 0; i < rows[0]; ++i) sum += i;  // CLEAN: device-sized
  for (int i = starts[0]; i < 4; ++i) sum += i;  // CLEAN: device-sized
  if (x[0] > 1.0f) return 1;  // EXPECT: host-branch:warning
  return sum;
}

int written(const float* device, std::FILE* file) {
  std::vector<float> host(16);
  cudaMemcpy(host.data(), device, 64, cudaMemcpyDeviceToHost);
  if (std::fwrite(host.data(), 4, 16, file) != 16) return 1;  // CLEAN: host-branch
  return host[0] > 0 ? 1 : 0;  // EXPECT: host-branch:warning
}

int one_cause(const int* device, const float* table, int e) {
  int host[4];
  cudaMemcpy(host, device, 16, cudaMemcpyDeviceToHost);
  const float* at = table ? &table[host[e]] : table + host[e] * 4;  // EXPECT: device-sized:warning
  return at != nullptr;
}
