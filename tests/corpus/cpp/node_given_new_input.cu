// Each request gives the executable's kernel node its own input and frees the request before: the request
// that is freed is the one in use when the two lines are in the wrong order.
#include "corpus.h"

struct Request {
  explicit Request(int value) {
    CU(cudaMalloc(&input, 1 << 20));
    const int host = value;
    CU(cudaMemcpy(input, &host, sizeof(host), cudaMemcpyHostToDevice));
  }
  void finish() { CU(cudaFree(input)); }  // EXPECT: freed-memory error finish

  int* input = nullptr;
};

static cudaKernelNodeParams kernel_of(void** arguments) {
  cudaKernelNodeParams kernel{};
  kernel.func = reinterpret_cast<void*>(copy_value);
  kernel.gridDim = kernel.blockDim = dim3(1);
  kernel.kernelParams = arguments;
  return kernel;
}

static void point_at(cudaGraphExec_t exec, cudaGraphNode_t node, int* x, const Request& request) {
  const int* from = request.input;
  void* arguments[] = {&x, &from};
  const cudaKernelNodeParams kernel = kernel_of(arguments);
  CU(cudaGraphExecKernelNodeSetParams(exec, node, &kernel));
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* x = corpus::device_ints(1);
  Request first(1), second(2);
  const int* from = first.input;
  void* arguments[] = {&x, &from};
  const cudaKernelNodeParams kernel = kernel_of(arguments);
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t node = nullptr;
  CU(cudaGraphCreate(&graph, 0));
  CU(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &kernel));
  const cudaGraphExec_t exec = corpus::instantiate(graph);
  CU(cudaGraphLaunch(exec, stream));
  CU(cudaStreamSynchronize(stream));
  point_at(exec, node, x, second);
#ifdef CLEAN
  first.finish();
#else
  second.finish();
#endif
  int* tenant = corpus::device_ints((1 << 20) / sizeof(int));
  CU(cudaGraphLaunch(exec, stream));
  CU(cudaStreamSynchronize(stream));
  const int value = corpus::read_one(x);
  CU(cudaFree(tenant));
  if (!corpus::kClean)
    return corpus::saw(true, value == 2 ? "nobody was there yet" : "it read somebody else's block");
  return corpus::saw(value == 2, "the second request's input");
}
