// The layer's number comes from a loop in this source; what is tested is in others.
#include "layer.h"

void captured(int layers, int mode, cudaStream_t stream) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  for (int i = 0; i < layers; ++i) block(i, mode, stream);
  once(mode, stream);
  cudaStreamEndCapture(stream, &graph);
}
