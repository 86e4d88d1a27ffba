#include "layer.h"

static void wait(cudaStream_t s) {
  cudaStreamSynchronize(s);  // EXPECT: host-sync
}

void flush(cudaStream_t s) {
  cudaStreamCaptureStatus status;
  cudaStreamIsCapturing(s, &status);
  if (status == cudaStreamCaptureStatusNone) cudaDeviceSynchronize();  // CLEAN: host-sync
  wait(s);
}

void never_called(cudaStream_t s) { cudaStreamSynchronize(s); }  // CLEAN: host-sync
