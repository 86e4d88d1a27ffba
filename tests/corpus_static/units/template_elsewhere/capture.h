// Helpers that every source of a program includes and one of them uses.
#pragma once

#include <cuda_runtime.h>

template <bool kWait, class Work>
void record(cudaStream_t stream, Work&& work) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  work(stream);
  if constexpr (kWait) cudaStreamSynchronize(stream);  // CLEAN: host-sync, never so called
  cudaStreamEndCapture(stream, &graph);
}

// Nobody uses this one: told once.
template <class T>
void record_unused(cudaStream_t stream, T* values) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  cudaMemsetAsync(values, 0, sizeof(T), stream);
  cudaStreamSynchronize(stream);  // EXPECT: host-sync
  cudaStreamEndCapture(stream, &graph);
}
