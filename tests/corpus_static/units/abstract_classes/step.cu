// A virtual call comes to a method of an abstract class where some source derives a class of it that has
// objects.
#include "layer.h"

struct Idle : Layer {
  void run(cudaStream_t) override {}
};

void capture(Layer& layer, cudaStream_t stream) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  layer.run(stream);
  cudaStreamEndCapture(stream, &graph);
}
