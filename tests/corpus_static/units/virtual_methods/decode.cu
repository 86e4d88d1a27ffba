// A region calls through an interface; what implements it is here and in another file.
#include "layer.h"

__global__ void near_kernel(float* x);

struct Near : Layer {
  void forward(float* x, cudaStream_t s) override {
    near_kernel<<<1, 1, 0, s>>>(x);
    cudaStreamSynchronize(s);  // EXPECT: host-sync
  }
};

void capture(Layer& layer, float* x, cudaStream_t s) {
  cudaGraph_t g;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  layer.forward(x, s);
  layer.name();
  cudaStreamEndCapture(s, &g);
}
