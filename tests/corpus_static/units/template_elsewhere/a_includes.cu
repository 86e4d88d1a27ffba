#include "capture.h"

void waits(cudaStream_t stream) {
  cudaStreamSynchronize(stream);  // CLEAN: host-sync
}
