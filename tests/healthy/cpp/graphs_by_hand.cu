// Graphs that are built, nested, cloned and changed node by node, with everything they use alive: an
// iterative solver that exchanges its buffers through the executable's parameters, a step as a child graph, a
// loop on the device, and an executable that follows each new capture by an update.
#include "tests/corpus/cpp/corpus.h"

__global__ void halve(const int* from, int* to) {
  *to = *from / 2;
}
__global__ void more_to_do(cudaGraphConditionalHandle handle, const int* x) {
  cudaGraphSetConditional(handle, *x > 1);
}

static cudaKernelNodeParams kernel(void* function, void** arguments) {
  cudaKernelNodeParams params{};
  params.func = function;
  params.gridDim = params.blockDim = dim3(1, 1, 1);
  params.kernelParams = arguments;
  return params;
}

// Two buffers in turn, as a solver has them.
static int solve(cudaStream_t stream, int* pinned) {
  int* a = corpus::device_ints(1);
  int* b = corpus::device_ints(1);
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t copy = nullptr, step = nullptr, back = nullptr;
  *pinned = 64;
  CU(cudaMemcpy(a, pinned, sizeof(int), cudaMemcpyHostToDevice));
  CU(cudaGraphCreate(&graph, 0));
  void* forth[] = {&a, &b};
  void* again[] = {&b, &a};
  cudaKernelNodeParams params = kernel(reinterpret_cast<void*>(halve), forth);
  cudaMemsetParams zero{};
  zero.dst = b;
  zero.elementSize = sizeof(int);
  zero.width = zero.height = 1;
  CU(cudaGraphAddMemsetNode(&copy, graph, nullptr, 0, &zero));
  CU(cudaGraphAddKernelNode(&step, graph, &copy, 1, &params));
  CU(cudaGraphAddMemcpyNode1D(&back, graph, &step, 1, pinned, b, sizeof(int), cudaMemcpyDeviceToHost));
  const cudaGraphExec_t exec = corpus::instantiate(graph);
  for (int i = 0; i < 4; ++i) {
    int* to = i % 2 == 0 ? b : a;
    params = kernel(reinterpret_cast<void*>(halve), i % 2 == 0 ? forth : again);
    zero.dst = to;
    CU(cudaGraphExecMemsetNodeSetParams(exec, copy, &zero));
    CU(cudaGraphExecKernelNodeSetParams(exec, step, &params));
    CU(cudaGraphExecMemcpyNodeSetParams1D(exec, back, pinned, to, sizeof(int), cudaMemcpyDeviceToHost));
    CU(cudaGraphLaunch(exec, stream));
    CU(cudaStreamSynchronize(stream));
  }
  CU(cudaGraphExecDestroy(exec));
  CU(cudaGraphDestroy(graph));
  return *pinned;
}

// A child graph, and its clone as another one.
static int nested(cudaStream_t stream) {
  int* x = corpus::device_ints(1);
  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  add<<<1, 1, 0, stream>>>(x, 1);
  const cudaGraph_t inner = corpus::end_capture(stream);
  cudaGraph_t clone = nullptr, graph = nullptr;
  cudaGraphNode_t first = nullptr, second = nullptr;
  CU(cudaGraphClone(&clone, inner));
  CU(cudaGraphCreate(&graph, 0));
  CU(cudaGraphAddChildGraphNode(&first, graph, nullptr, 0, inner));
  CU(cudaGraphAddChildGraphNode(&second, graph, &first, 1, clone));
  corpus::replay(graph, stream, 3);
  return corpus::read_one(x);
}

// A loop whose body a capture fills.
static int loop(cudaStream_t stream) {
  int* x = corpus::device_ints(1);
  add<<<1, 1, 0, stream>>>(x, 40);
  cudaGraph_t graph = nullptr;
  cudaGraphConditionalHandle handle{};
  cudaGraphNode_t node = nullptr;
  CU(cudaGraphCreate(&graph, 0));
  CU(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams params = {};
  params.type = cudaGraphNodeTypeConditional, params.conditional.handle = handle;
  params.conditional.type = cudaGraphCondTypeWhile;
  params.conditional.size = 1;
  CU(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
  cudaGraph_t body = params.conditional.phGraph_out[0];
  CU(cudaStreamBeginCaptureToGraph(stream, body, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
  halve<<<1, 1, 0, stream>>>(x, x);
  more_to_do<<<1, 1, 0, stream>>>(handle, x);
  CU(cudaStreamEndCapture(stream, &body));
  corpus::replay(graph, stream, 1);
  return corpus::read_one(x);
}

// Captured anew for each step, one executable for all.
static int updated(cudaStream_t stream) {
  int* x = corpus::device_ints(2);
  cudaGraphExec_t exec = nullptr;
  for (int i = 0; i < 12; ++i) {
    CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<1, 1, 0, stream>>>(x + i % 2, i);
    const cudaGraph_t graph = corpus::end_capture(stream);
    if (exec == nullptr) {
      exec = corpus::instantiate(graph);
    } else {
      cudaGraphExecUpdateResultInfo info{};
      CU(cudaGraphExecUpdate(exec, graph, &info));
    }
    CU(cudaGraphDestroy(graph));
    CU(cudaGraphLaunch(exec, stream));
  }
  CU(cudaStreamSynchronize(stream));
  return corpus::read_one(x) + corpus::read_one(x + 1);
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* pinned = nullptr;
  CU(cudaMallocHost(&pinned, sizeof(int)));
  const int solved = solve(stream, pinned), in_graph = nested(stream), looped = loop(stream);
  const int sum = updated(stream);
  std::printf("%d %d %d %d\n", solved, in_graph, looped, sum);
  return corpus::saw(solved == 4 && in_graph == 6 && looped == 1 && sum == 66, "graphs by hand");
}
