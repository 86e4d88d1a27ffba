// Begun here, and ended by callers in another source, or by none.
#include "recorder.h"

void begin_recording(cudaStream_t stream) {
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
}
void end_recording(cudaStream_t stream) {
  cudaGraph_t graph;
  cudaStreamEndCapture(stream, &graph);
}
void begin_for_another_language(cudaStream_t stream) {
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);  // EXPECT: not-analysed
}
