#include "capture.h"

__global__ void work() {}

bool Runner::execute(cudaStream_t stream) {
  if (!capture_.begin(stream)) {
    step_(stream);
    cudaStreamSynchronize(stream);  // CLEAN: host-sync, no capture was begun
    return false;
  }
  step_(stream);                  // EXPECT: not-analysed
  cudaStreamSynchronize(stream);  // EXPECT: host-sync
  const bool ended = capture_.end();
  cudaStreamSynchronize(stream);  // CLEAN: host-sync
  return ended;
}

void guarded(cudaStream_t stream) {
  {
    Scope scope(stream);
    work<<<1, 1, 0, stream>>>();
    cudaDeviceSynchronize();  // EXPECT: host-sync
  }
  cudaDeviceSynchronize();  // CLEAN: host-sync
}
