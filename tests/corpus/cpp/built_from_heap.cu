// A graph is built with the graph calls, without a capture. Its copy node reads a vector that ends with the
// function that built it; the heap hands the block to the next request. Public fault: NVIDIA/cuda-python#166.
#include <cstring>

#include "corpus.h"  // EXPECT-VERDICT: inconclusive

static const int kWords = 1024;

__global__ void sum_up(const int* prompt, int* sum) {
  *sum = 0;
  for (int i = 0; i < kWords; ++i) *sum += prompt[i];
}

static cudaGraph_t build_prompt_graph(int* device, const int* pinned, int* sum) {
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t copy = nullptr, kernel = nullptr;
  CU(cudaGraphCreate(&graph, 0));
#ifdef CLEAN
  const int* prompt = pinned;
#else
  const std::vector<int> tokens(pinned, pinned + kWords);
  const int* prompt = tokens.data();
#endif
  // EXPECT: host-pointer warning build_prompt_graph
  CU(cudaGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, device, prompt, kWords * sizeof(int),
                              cudaMemcpyHostToDevice));
  void* arguments[] = {&device, &sum};
  cudaKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(sum_up);
  params.gridDim = params.blockDim = dim3(1, 1, 1);
  params.kernelParams = arguments;
  CU(cudaGraphAddKernelNode(&kernel, graph, &copy, 1, &params));
  return graph;
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* device = corpus::device_ints(kWords);
  int* sum = corpus::device_ints(1);
  int* pinned = nullptr;
  CU(cudaMallocHost(&pinned, kWords * sizeof(int)));
  for (int i = 0; i < kWords; ++i) pinned[i] = 1;
  const cudaGraphExec_t exec = corpus::instantiate(build_prompt_graph(device, pinned, sum));
  std::vector<int> next_request(kWords, 9);
  for (int i = 0; i < 3; ++i) CU(cudaGraphLaunch(exec, stream));
  CU(cudaStreamSynchronize(stream));
  const bool right = corpus::read_one(sum) == kWords;
  return corpus::saw(right == corpus::kClean && next_request[0] == 9,
                     corpus::kClean ? "each replay reads the prompt" : "a replay reads the next request");
}
