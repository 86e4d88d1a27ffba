// The wrapper returns before it begins, when it fails to begin, and with a capture open: only the last is a
// region for whoever called it.
#include "capture.h"

bool Capture::begin(cudaStream_t stream) {
  if (!stream) return false;
  const cudaError_t error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  if (error != cudaSuccess) {
    cudaDeviceSynchronize();  // CLEAN: host-sync
    return false;
  }
  stream_ = stream;
  return true;
}

bool Capture::end() {
  if (!stream_) return false;
  return cudaStreamEndCapture(stream_, &graph_) == cudaSuccess;
}

Scope::Scope(cudaStream_t stream) : stream_(stream) {
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
}
Scope::~Scope() {
  cudaGraph_t graph;
  cudaStreamEndCapture(stream_, &graph);
}
