#include "layer.h"

void capture(float* x, const int* counts, cudaStream_t s) {
  cudaGraph_t g;
  pending(s);
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  attention(x, s);
  moe(x, counts, s);
  cudaStreamEndCapture(s, &g);
}
