#pragma once
#include <cuda_runtime.h>

void begin_recording(cudaStream_t stream);
void end_recording(cudaStream_t stream);
void begin_for_another_language(cudaStream_t stream);

// Of a header: used in one of the sources that include it.
struct InHeader {
  void begin(cudaStream_t stream) { cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal); }
  void end(cudaStream_t stream) {
    cudaGraph_t graph;
    cudaStreamEndCapture(stream, &graph);
  }
};
