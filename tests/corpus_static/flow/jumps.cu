// Exceptions, jumps backwards, recursion.
#include <cuda_runtime.h>

#include <stdexcept>

__global__ void work(int) {}

void caught(cudaStream_t stream, const int* device) {
  cudaGraph_t graph;
  int host = 0;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  try {
    cudaMemcpyAsync(&host, device, 4, cudaMemcpyDeviceToHost, stream);  // EXPECT: pageable-copy
    if (host > 0) throw std::runtime_error("refused");                  // EXPECT: host-branch
    host = 3;
  } catch (const std::exception&) {
    if (host > 0) cudaDeviceSynchronize();  // EXPECT: host-branch, host-sync
  }
  cudaStreamEndCapture(stream, &graph);
}

void again(cudaStream_t stream, const int* device, int steps) {
  cudaGraph_t graph;
  int host = 0, seen = 0;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
more:
  if (seen > 3) work<<<1, 1, 0, stream>>>(1);                         // EXPECT: host-branch
  cudaMemcpyAsync(&host, device, 4, cudaMemcpyDeviceToHost, stream);  // EXPECT: pageable-copy
  seen = host;
  if (--steps > 0) goto more;  // CLEAN: host-branch
  cudaStreamEndCapture(stream, &graph);
}

// A failure jumps out of the region to a common end, where the path in order has none open.
int cleaned_up(cudaStream_t stream, int* device) {
  cudaGraph_t graph = nullptr;
  int result = 1;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  if (cudaMemsetAsync(device, 0, 4, stream) != cudaSuccess) goto done;  // CLEAN: host-branch
  if (cudaStreamEndCapture(stream, &graph) != cudaSuccess) goto done;  // CLEAN: host-branch
  result = 0;
done:
  cudaFree(device);  // CLEAN: device-alloc
  return result;
}

static int down(int n, cudaStream_t stream) {
  if (n == 0) {
    cudaStreamSynchronize(stream);  // EXPECT: host-sync
    return 0;
  }
  return down(n - 1, stream);
}
static void odd(int n, cudaStream_t stream);
static void even(int n, cudaStream_t stream) {
  if (n > 0)
    odd(n - 1, stream);
  else
    cudaDeviceSynchronize();  // EXPECT: host-sync
}
static void odd(int n, cudaStream_t stream) {
  if (n > 0) even(n - 1, stream);
}
void recursive(cudaStream_t stream) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  down(3, stream);
  even(4, stream);
  cudaStreamEndCapture(stream, &graph);
}
