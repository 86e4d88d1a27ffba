// A node is switched off for a while (cudaGraphNodeSetEnabled), and its buffer taken back. That is right
// as long as it stays off.
#include "corpus.h"

static void take_back(int* buffer) {
  CU(cudaFree(buffer));  // EXPECT: freed-memory error take_back
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* x = corpus::device_ints(1);
  int* log = nullptr;
  CU(cudaMalloc(&log, 1 << 20));
  CU(cudaMemset(log, 0, 1 << 20));
  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  add<<<1, 1, 0, stream>>>(x, 1);
  add<<<1, 1, 0, stream>>>(log, 1);
  const cudaGraph_t graph = corpus::end_capture(stream);
  cudaGraphNode_t nodes[2] = {};
  size_t count = 2;
  CU(cudaGraphGetNodes(graph, nodes, &count));
  const cudaGraphExec_t exec = corpus::instantiate(graph);
  CU(cudaGraphLaunch(exec, stream));
  CU(cudaStreamSynchronize(stream));
  // Which of the two writes the log, their parameters tell.
  cudaKernelNodeParams params{};
  CU(cudaGraphKernelNodeGetParams(nodes[0], &params));
  const bool second = *static_cast<int**>(params.kernelParams[0]) == x;
  const cudaGraphNode_t logs = nodes[second ? 1 : 0];
  CU(cudaGraphNodeSetEnabled(exec, logs, 0));
  take_back(log);
  CU(cudaGraphLaunch(exec, stream));
  int* tenant = corpus::device_ints((1 << 20) / sizeof(int));
#ifndef CLEAN
  CU(cudaGraphNodeSetEnabled(exec, logs, 1));
#endif
  CU(cudaGraphLaunch(exec, stream));
  CU(cudaStreamSynchronize(stream));
  const bool hurt = corpus::read_one(tenant) != 0;
  if (!corpus::kClean) return corpus::saw(true, hurt ? "the log went into another buffer" : "the launch ran");
  return corpus::saw(!hurt && corpus::read_one(x) == 3, "no log from a node that is off");
}
