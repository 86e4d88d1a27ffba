// OPTIONS: --budget=3
// An analysis that stops says where.
#include <cuda_runtime.h>

static void a(cudaStream_t stream) {
  cudaStreamQuery(stream);  // EXPECT: host-poll
}
static void b(cudaStream_t stream) {
  cudaStreamSynchronize(stream);  // EXPECT: host-sync
}
static void c(cudaStream_t stream) {  // EXPECT: not-analysed
  cudaStreamSynchronize(stream);
}

void capture(cudaStream_t stream) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  a(stream);
  b(stream);
  c(stream);
  cudaStreamEndCapture(stream, &graph);
}

// What was not begun when it stopped is no clean region.
void another_capture(cudaStream_t stream) {  // EXPECT: not-analysed
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  cudaStreamSynchronize(stream);
  cudaStreamEndCapture(stream, &graph);
}
