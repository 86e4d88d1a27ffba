// OPTIONS: -DCUDA_API_PER_THREAD_DEFAULT_STREAM=1
// With per-thread default streams the default is not the legacy stream.
#include <capgate/capgate.h>
#include <cuda_runtime.h>

__global__ void work(float* p);

CAPGATE_REGION void launches(float* d) {
  work<<<1, 1>>>(d);  // CLEAN: default-stream
  cudaMemsetAsync(d, 0, 4);  // CLEAN: default-stream
}
