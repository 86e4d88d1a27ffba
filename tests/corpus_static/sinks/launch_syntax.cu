// Launches that nvcc takes and clang does not: braces, brackets apart. What stands behind them is where it was.
#include <capgate/capgate.h>
#include <cuda_runtime.h>

#define LAUNCH(kernel, grid, stream) kernel<<<{(grid), 1, 1}, {32, 1, 1}, 0, stream>>>

template <int Tile>
__global__ void work(int*, int n);
int rows(int n) {
  return n / 2;
}

CAPGATE_REGION void sizes(int* pinned, int* d, int n, cudaStream_t s) {
  cudaMemcpyAsync(pinned, d, 64, cudaMemcpyDeviceToHost, s);
  work<1><<<{n, 2, 1}, {32, 8, 1}, 0, s>>>(d, 1);  // CLEAN: device-sized
  work<1><<<n, {pinned[0], 8, 1}, 0, s>>>(d, 1);                      // EXPECT: device-sized
  work<1><<<dim3{1, 2, 3}, {32, static_cast<unsigned>(pinned[1]), 1}, 0, s>>>(d, 1);  // EXPECT: device-sized
  work<1><<<{1, 1, pinned[2], }, {/* a square: { */ 8, 8}, 0, s>>>(d, 1);             // EXPECT: device-sized
  work<1><<<{rows(n), 1}, {}, {}, s>>>(d, 1);  // CLEAN: device-sized
  work<1><<<1, {32}, 0, {s}>>>(d, 1), cudaStreamSynchronize(s);       // EXPECT: host-sync
  LAUNCH(work<2>, pinned[3], s)(d, 1);                                // EXPECT: device-sized
  LAUNCH(work<2>, n, s)(d, 1);  // CLEAN: device-sized
}

CAPGATE_REGION void streams(int* d, cudaStream_t s) {
  const char* text = "k<<<1, {1, 2}>>>";
  work<1><<<{1, 1}, {32, 1}>>>(d, 1);         // EXPECT: default-stream
  work<1><<<{1, 1}, {32, 1}, 0, 0>>>(d, 1);   // EXPECT: default-stream
  work<1><<<{1, 1}, {32, 1}, 0, {}>>>(d, 1);  // EXPECT: default-stream
  work<1><<<{1, 1}, {32, 1}, 0, s>>>(d, text[0]);  // CLEAN: default-stream
}

void outside(int* pinned, int* d, cudaStream_t s) {
  cudaMemcpyAsync(pinned, d, 64, cudaMemcpyDeviceToHost, s);
  work<1><<<{pinned[0], 1, 1}, {32, 1, 1}, 0, s>>>(d, 1);  // CLEAN: device-sized
}

// As a formatter that does not know launches writes them.
CAPGATE_REGION void taken_apart(int* pinned, int* d, cudaStream_t s) {
  work<1> << <1, 32, 0, s >> > (d, 1);  // CLEAN: default-stream
  work<1> << <1, {32}>> >(d, 1);                                      // EXPECT: default-stream
  cudaMemcpyAsync(pinned, d, 64, cudaMemcpyDeviceToHost, s);
  work<1> << <pinned[0] >> 5, 32, 0, s >> > (d, 1);                   // EXPECT: device-sized
}
