// Each way in which the host can decide by a value.
#include <capgate/capgate.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

__global__ void work(int* p, int n);
void act() {}
int table[64];

CAPGATE_REGION int conditions(int* h, int* d, bool host_knows, cudaStream_t s) {
  cudaMemcpyAsync(h, d, 64, cudaMemcpyDeviceToHost, s);
  if (h[0]) act();                          // EXPECT: host-branch
  while (h[1] > 0) act();                   // EXPECT: host-branch
  do act(); while (h[2]);                   // EXPECT: host-branch
  for (int i = 0; i < h[3]; ++i) act();     // EXPECT: device-sized
  for (; h[4];) act();                      // EXPECT: host-branch
  switch (h[5]) {                           // EXPECT: host-branch
    case 0:
      act();
      break;
    default:
      break;
  }
  int x = h[6] ? 1 : 2;                     // EXPECT: host-branch
  bool both = h[7] && host_knows;           // EXPECT: host-branch
  bool either = h[8] || host_knows;         // EXPECT: host-branch
  if (h[9] < 0) return 1;                   // EXPECT: host-branch
  return x + both + either;
}

CAPGATE_REGION void sizes(int* h, int* d, int* out, cudaStream_t s) {
  cudaMemcpyAsync(h, d, 64, cudaMemcpyDeviceToHost, s);
  work<<<h[0], 128, 0, s>>>(d, 1);                    // EXPECT: device-sized
  work<<<1, h[1], 0, s>>>(d, 1);                      // EXPECT: device-sized
  work<<<1, 128, h[2] * 4, s>>>(d, 1);                // EXPECT: device-sized
  dim3 grid((h[3] + 127) / 128, 2);
  work<<<grid, 128, 0, s>>>(d, 1);                    // EXPECT: device-sized
  int v = table[h[4]];                                // EXPECT: device-sized
  cudaMemcpyAsync(out, d, h[5], cudaMemcpyDeviceToDevice, s);  // EXPECT: device-sized
  cudaMemsetAsync(d, 0, h[6], s);                     // EXPECT: device-sized
  std::vector<int> list(h[7]);                        // EXPECT: device-sized
  list.resize(h[8]);                                  // EXPECT: device-sized
  void* m = std::malloc(h[9]);                        // EXPECT: device-sized
  int* n = new int[h[10]];                            // EXPECT: device-sized
  work<<<1, 128, 0, s>>>(d + h[11], v);               // EXPECT: device-sized
  void* a;
  cudaMallocAsync(&a, h[12], s);                      // EXPECT: device-sized
  std::free(m);
  delete[] n;
}

CAPGATE_REGION void launch_functions(int* h, int* d, cudaStream_t s) {
  cudaMemcpyAsync(h, d, 64, cudaMemcpyDeviceToHost, s);
  int n = 1;
  void* args[] = {&d, &n};
  cudaLaunchKernel((const void*)work, dim3(h[0]), dim3(1), args, 0, s);  // EXPECT: device-sized
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(h[1]);
  config.blockDim = dim3(32);
  config.stream = s;
  cudaLaunchKernelEx(&config, work, d, 1);  // EXPECT: device-sized
}

// The same with what the host knows.
CAPGATE_REGION int host_values(int* h, int* d, int n, const std::vector<int>& lengths, cudaStream_t s) {
  cudaMemcpyAsync(h, d, 64, cudaMemcpyDeviceToHost, s);
  if (n) act();  // CLEAN: host-branch
  while (n > 0) --n;
  for (int i = 0; i < n; ++i) act();  // CLEAN: device-sized
  for (int l : lengths)
    if (l > 3) act();  // CLEAN: host-branch
  switch (n) {  // CLEAN: host-branch
    case 1:
      act();
  }
  dim3 grid((n + 127) / 128);
  work<<<grid, 128, 0, s>>>(d, n);  // CLEAN: device-sized
  work<<<n, std::min(n, 128), n * 4, s>>>(d + n, n);  // CLEAN: device-sized
  int x = n > 3 ? table[n] : 0;  // CLEAN: host-branch, device-sized
  cudaMemsetAsync(d, 0, n * 4, s);  // CLEAN: device-sized
  return n > 2 && x < 4 ? 1 : 0;  // CLEAN: host-branch
}

CAPGATE_REGION void passing_on_is_no_decision(int* h, int* d, cudaStream_t s) {
  cudaMemcpyAsync(h, d, 64, cudaMemcpyDeviceToHost, s);
  int copy = h[0] + 1;
  work<<<1, 32, 0, s>>>(d, copy);  // CLEAN: device-sized
  h[1] = copy;
}
