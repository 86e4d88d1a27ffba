// A captured step is put into a larger graph as a child. When the step's owner goes, so does the buffer
// that the child graph still uses.
#include "corpus.h"

struct Step {
  Step() { CU(cudaMalloc(&buffer, 1 << 20)); }
  cudaGraph_t capture(int* x, cudaStream_t stream) {
    CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<1, 1, 0, stream>>>(buffer, 1);
    copy_value<<<1, 1, 0, stream>>>(x, buffer);
    return corpus::end_capture(stream);
  }
  void drop() { CU(cudaFree(buffer)); }  // EXPECT: freed-memory error drop

  int* buffer = nullptr;
};

static cudaGraphExec_t put_into_a_graph(cudaGraph_t step) {
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t node = nullptr;
  CU(cudaGraphCreate(&graph, 0));
  CU(cudaGraphAddChildGraphNode(&node, graph, nullptr, 0, step));
  return corpus::instantiate(graph);
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* x = corpus::device_ints(1);
  Step step;
  CU(cudaMemset(step.buffer, 0, 1 << 20));
  CU(cudaDeviceSynchronize());
  const cudaGraphExec_t exec = put_into_a_graph(step.capture(x, stream));
  CU(cudaGraphLaunch(exec, stream));
  CU(cudaStreamSynchronize(stream));
#ifndef CLEAN
  step.drop();
#endif
  int* tenant = corpus::device_ints((1 << 20) / sizeof(int));
  CU(cudaGraphLaunch(exec, stream));
  CU(cudaStreamSynchronize(stream));
  const bool hurt = corpus::read_one(tenant) != 0;
#ifdef CLEAN
  CU(cudaGraphExecDestroy(exec));
  step.drop();
  return corpus::saw(!hurt && corpus::read_one(x) == 2, "the buffer outlives the graph");
#else
  return corpus::saw(true, hurt ? "the child wrote into another buffer" : "the child ran");
#endif
}
