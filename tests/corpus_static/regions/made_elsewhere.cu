// Objects that the standard library makes run the user's constructors.
#include <cuda_runtime.h>

#include <memory>
#include <vector>

struct Graph {
  cudaGraph_t graph = nullptr;
  template <class Step>
  Graph(cudaStream_t stream, Step&& step) {
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    step();
    cudaStreamEndCapture(stream, &graph);
  }
};

void unique(cudaStream_t stream) {
  auto graph = std::make_unique<Graph>(stream, [&] { cudaStreamSynchronize(stream); });  // EXPECT: host-sync
  cudaStreamSynchronize(stream);  // CLEAN: host-sync
}
void shared(cudaStream_t stream) {
  auto graph = std::make_shared<Graph>(stream, [&] { cudaDeviceSynchronize(); });  // EXPECT: host-sync
}
void on_the_legacy_stream() {
  cudaGraph_t graph;
  cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal);  // EXPECT: default-stream
  cudaStreamEndCapture(nullptr, &graph);
}
