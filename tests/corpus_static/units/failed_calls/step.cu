// The handlers of errors are in another source.
#include "error.h"

void capture(cudaStream_t stream, void* p) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  const cudaError_t status = cudaMemsetAsync(p, 0, 4, stream);
  if (status != cudaSuccess) {
    abort_with(cudaGetErrorString(status));
    from_nowhere("failed");  // EXPECT: not-looked-into:note
    tell("failed");
  }
  tell("done");
  cudaStreamEndCapture(stream, &graph);
}
