// A capture in relaxed mode accepts allocations, wherever they stand.
#include "step.h"

void relaxed(cudaStream_t stream) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
  allocates(stream);
  cudaStreamEndCapture(stream, &graph);
}

void marked(cudaStream_t stream) {
  const capgate::region region("decode");
  on_the_default_stream(stream);
  first_use();
}
