// The body of a conditional node works on scratch that the program takes back between two launches.
#include "corpus.h"

__global__ void decide(cudaGraphConditionalHandle handle) {
  cudaGraphSetConditional(handle, 1);
}

static cudaGraphExec_t make_step(int* x, int* scratch, cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  cudaGraphConditionalHandle handle{};
  cudaGraphNode_t decision = nullptr, branch = nullptr;
  size_t one = 1;
  CU(cudaGraphCreate(&graph, 0));
  CU(cudaGraphConditionalHandleCreate(&handle, graph, 0, cudaGraphCondAssignDefault));
  CU(cudaStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0, cudaStreamCaptureModeThreadLocal));
  decide<<<1, 1, 0, stream>>>(handle);
  CU(cudaStreamEndCapture(stream, &graph));
  CU(cudaGraphGetNodes(graph, &decision, &one));
  cudaGraphNodeParams params = {};
  params.type = cudaGraphNodeTypeConditional, params.conditional.handle = handle;
  params.conditional.type = cudaGraphCondTypeIf;
  params.conditional.size = 1;
  CU(cudaGraphAddNode(&branch, graph, &decision, nullptr, 1, &params));
  cudaGraph_t body = params.conditional.phGraph_out[0];
  CU(cudaStreamBeginCaptureToGraph(stream, body, nullptr, nullptr, 0, cudaStreamCaptureModeThreadLocal));
  add<<<1, 1, 0, stream>>>(scratch, 1);
  copy_value<<<1, 1, 0, stream>>>(x, scratch);
  CU(cudaStreamEndCapture(stream, &body));
  return corpus::instantiate(graph);
}

static void trim(int* scratch) {
  CU(cudaFree(scratch));  // EXPECT: freed-memory error trim
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* x = corpus::device_ints(1);
  int* scratch = nullptr;
  CU(cudaMalloc(&scratch, sizeof(int) << 18));
  CU(cudaMemset(scratch, 0, sizeof(int) << 18));
  const cudaGraphExec_t exec = make_step(x, scratch, stream);
  CU(cudaGraphLaunch(exec, stream));
  CU(cudaStreamSynchronize(stream));
#ifndef CLEAN
  trim(scratch);
#endif
  int* tenant = corpus::device_ints(1 << 18);
  CU(cudaGraphLaunch(exec, stream));
  CU(cudaStreamSynchronize(stream));
  const bool hurt = corpus::read_one(tenant) != 0;
#ifdef CLEAN
  CU(cudaGraphExecDestroy(exec));
  trim(scratch);
  return corpus::saw(!hurt && corpus::read_one(x) == 2, "two launches on one scratch");
#else
  return corpus::saw(true, hurt ? "the body wrote into another buffer" : "the body ran");
#endif
}
