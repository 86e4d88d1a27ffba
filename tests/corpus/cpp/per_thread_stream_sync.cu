// Built with a default stream for each thread: waiting for "stream 0" waits for the very stream that
// captures.
// Public fault: the class of microsoft/onnxruntime#15002 in a per-thread default stream build.
// CORPUS-BUILD: per-thread static
#include "corpus.h"

[[maybe_unused]] static void finish_layer() {
  const cudaError_t result = cudaStreamSynchronize(nullptr);  // EXPECT: host-sync error finish_layer
  if (result != cudaSuccess) std::printf("finishing the layer: %s\n", cudaGetErrorString(result));
}

static void layer(int* x) {
  add<<<1, 1>>>(x, 1);
#ifndef CLEAN
  finish_layer();
#endif
}

int main() {
  int* x = corpus::device_ints(1);
  layer(x);
  CU(cudaStreamSynchronize(cudaStreamPerThread));

  CU(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeGlobal));
  layer(x);
  const cudaGraph_t graph = corpus::end_capture(cudaStreamPerThread);
  if (graph) corpus::replay(graph, cudaStreamPerThread, 3);
  return corpus::capture_dies(graph, corpus::read_one(x) == 4);
}
