// The body of a conditional node takes its scratch from the stream-ordered allocator. The capture accepts it;
// the instantiation refuses it, far away. Public fault: NVIDIA/warp#866.
#include "corpus.h"

__global__ void decide(cudaGraphConditionalHandle handle, const int* x) {
  cudaGraphSetConditional(handle, *x < 100);
}

static void refine(int* x, int* scratch, cudaStream_t stream) {
#ifndef CLEAN
  // EXPECT: graph-refused error refine
  CU(cudaMallocAsync(reinterpret_cast<void**>(&scratch), sizeof(int), stream));
#endif
  copy_value<<<1, 1, 0, stream>>>(scratch, x);
  add<<<1, 1, 0, stream>>>(x, 1);
#ifndef CLEAN
  CU(cudaFreeAsync(scratch, stream));
#endif
}

static cudaGraph_t capture_step(int* x, int* scratch, cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  cudaGraphConditionalHandle handle{};
  cudaGraphNode_t decision = nullptr, branch = nullptr;
  size_t one = 1;
  CU(cudaGraphCreate(&graph, 0));
  CU(cudaGraphConditionalHandleCreate(&handle, graph, 0, cudaGraphCondAssignDefault));
  CU(cudaStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0, cudaStreamCaptureModeThreadLocal));
  decide<<<1, 1, 0, stream>>>(handle, x);
  CU(cudaStreamEndCapture(stream, &graph));
  CU(cudaGraphGetNodes(graph, &decision, &one));
  cudaGraphNodeParams params = {};
  params.type = cudaGraphNodeTypeConditional, params.conditional.handle = handle;
  params.conditional.type = cudaGraphCondTypeIf;
  params.conditional.size = 1;
  CU(cudaGraphAddNode(&branch, graph, &decision, nullptr, 1, &params));
  cudaGraph_t body = params.conditional.phGraph_out[0];
  CU(cudaStreamBeginCaptureToGraph(stream, body, nullptr, nullptr, 0, cudaStreamCaptureModeThreadLocal));
  refine(x, scratch, stream);
  CU(cudaStreamEndCapture(stream, &body));
  return graph;
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* x = corpus::device_ints(1);
  int* scratch = corpus::device_ints(1);
  const cudaGraph_t graph = capture_step(x, scratch, stream);
  cudaGraphExec_t exec = nullptr;
  const cudaError_t built = cudaGraphInstantiate(&exec, graph, 0);
  (void)cudaGetLastError();
  for (int i = 0; i < 3; ++i) {
    if (built == cudaSuccess)
      CU(cudaGraphLaunch(exec, stream));
    else
      refine(x, scratch, stream);  // the program goes on eagerly, and slowly
  }
  CU(cudaStreamSynchronize(stream));
  return corpus::saw((built == cudaSuccess) == corpus::kClean && corpus::read_one(x) == 3,
                     corpus::kClean ? "three replays" : "no graph, three eager steps");
}
