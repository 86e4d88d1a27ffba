// The child graph of an executable is set anew for each layer (cudaGraphExecChildGraphNodeSetParams). The
// weights of the layer that runs are freed, where those of the layer before should be.
#include "corpus.h"

struct Layer {
  Layer(int value, int* x, cudaStream_t stream) {
    CU(cudaMalloc(&weights, 1 << 20));
    CU(cudaMemcpy(weights, &value, sizeof(value), cudaMemcpyHostToDevice));
    CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    copy_value<<<1, 1, 0, stream>>>(x, weights);
    graph = corpus::end_capture(stream);
  }
  void unload() { CU(cudaFree(weights)); }  // EXPECT: freed-memory error unload

  int* weights = nullptr;
  cudaGraph_t graph = nullptr;
};

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* x = corpus::device_ints(1);
  Layer first(1, x, stream), second(2, x, stream);
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t node = nullptr;
  CU(cudaGraphCreate(&graph, 0));
  CU(cudaGraphAddChildGraphNode(&node, graph, nullptr, 0, first.graph));
  const cudaGraphExec_t exec = corpus::instantiate(graph);
  CU(cudaGraphLaunch(exec, stream));
  CU(cudaStreamSynchronize(stream));
  CU(cudaGraphExecChildGraphNodeSetParams(exec, node, second.graph));
#ifdef CLEAN
  first.unload();
#else
  second.unload();
#endif
  int* tenant = corpus::device_ints((1 << 20) / sizeof(int));
  CU(cudaGraphLaunch(exec, stream));
  CU(cudaStreamSynchronize(stream));
  const int value = corpus::read_one(x);
  CU(cudaFree(tenant));
  if (!corpus::kClean)
    return corpus::saw(true, value == 2 ? "nobody was there yet" : "it read somebody else's block");
  return corpus::saw(value == 2, "the second layer's weights");
}
