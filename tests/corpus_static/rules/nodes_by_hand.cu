// host-pointer without any region: copy nodes over locals of the function that adds them.
#include <cuda.h>
#include <cuda_runtime.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

__device__ float table[16];

struct Step {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaGraphNode_t copy;
  std::vector<float> kept;
};

void to_the_device(cudaGraph_t g, float* d, float scalar) {
  cudaGraphNode_t n;
  float local[4] = {};
  cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, d, local, 16, cudaMemcpyHostToDevice);  // EXPECT: host-pointer
  cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, d, &scalar, 4, cudaMemcpyHostToDevice);  // EXPECT: host-pointer
  std::vector<float> list(4);
  cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, d, list.data(), 16, cudaMemcpyHostToDevice);  // EXPECT: host-pointer
  const float* inside = list.data() + 1;
  cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, d, inside, 12, cudaMemcpyHostToDevice);  // EXPECT: host-pointer
  std::array<float, 4> fixed = {};
  cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, d, fixed.data(), 16, cudaMemcpyHostToDevice);  // EXPECT: host-pointer
  std::string text = "prompt";
  cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, d, text.data(), 4, cudaMemcpyHostToDevice);  // EXPECT: host-pointer
  auto owned = std::make_unique<float[]>(4);
  cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, d, owned.get(), 16, cudaMemcpyHostToDevice);  // EXPECT: host-pointer
}
void to_the_host(Step& step, const float* d) {
  std::vector<float> list(4);
  cudaGraphMemcpyNodeSetParams1D(step.copy, list.data(), d, 16, cudaMemcpyDeviceToHost);  // EXPECT: host-pointer
  cudaGraphExecMemcpyNodeSetParams1D(step.exec, step.copy, list.data(), d, 16, cudaMemcpyDeviceToHost);  // EXPECT: host-pointer
}
void of_symbols(Step& step) {
  cudaGraphNode_t n;
  float local[4] = {};
  cudaGraphAddMemcpyNodeFromSymbol(&n, step.graph, nullptr, 0, local, table, 16, 0, cudaMemcpyDeviceToHost);  // EXPECT: host-pointer
  cudaGraphAddMemcpyNodeToSymbol(&n, step.graph, nullptr, 0, table, local, 16, 0, cudaMemcpyHostToDevice);  // EXPECT: host-pointer
  cudaGraphMemcpyNodeSetParamsToSymbol(step.copy, table, local, 16, 0, cudaMemcpyHostToDevice);  // EXPECT: host-pointer
  cudaGraphMemcpyNodeSetParamsFromSymbol(step.copy, local, table, 16, 0, cudaMemcpyDeviceToHost);  // EXPECT: host-pointer
  cudaGraphExecMemcpyNodeSetParamsToSymbol(step.exec, n, table, local, 16, 0, cudaMemcpyHostToDevice);  // EXPECT: host-pointer
  cudaGraphExecMemcpyNodeSetParamsFromSymbol(step.exec, n, local, table, 16, 0, cudaMemcpyDeviceToHost);  // EXPECT: host-pointer
}
void by_parameters(Step& step, cudaPitchedPtr d) {
  cudaGraphNode_t n;
  float local[4] = {};
  cudaMemcpy3DParms p = {};
  p.srcPtr = make_cudaPitchedPtr(local, 16, 4, 1);
  p.dstPtr = d;
  p.kind = cudaMemcpyHostToDevice;
  cudaGraphAddMemcpyNode(&n, step.graph, nullptr, 0, &p);            // EXPECT: host-pointer
  cudaGraphMemcpyNodeSetParams(step.copy, &p);                       // EXPECT: host-pointer
  cudaGraphExecMemcpyNodeSetParams(step.exec, step.copy, &p);        // EXPECT: host-pointer
}
void by_node_parameters(Step& step, cudaPitchedPtr d) {
  cudaGraphNode_t n;
  float local[4] = {};
  cudaGraphNodeParams p = {};
  p.type = cudaGraphNodeTypeMemcpy;
  p.memcpy.copyParams.srcPtr = make_cudaPitchedPtr(local, 16, 4, 1);
  p.memcpy.copyParams.dstPtr = d;
  p.memcpy.copyParams.kind = cudaMemcpyHostToDevice;
  cudaGraphAddNode(&n, step.graph, nullptr, nullptr, 0, &p);   // EXPECT: host-pointer
  cudaGraphNodeSetParams(step.copy, &p);                       // EXPECT: host-pointer
  cudaGraphExecNodeSetParams(step.exec, step.copy, &p);        // EXPECT: host-pointer
}
void of_the_driver(CUgraph g, CUgraphExec exec, CUgraphNode known, CUcontext context, CUdeviceptr d) {
  CUgraphNode n;
  float local[4] = {};
  CUDA_MEMCPY3D p = {};
  p.srcMemoryType = CU_MEMORYTYPE_HOST;
  p.srcHost = local;
  p.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  p.dstDevice = d;
  cuGraphAddMemcpyNode(&n, g, nullptr, 0, &p, context);      // EXPECT: host-pointer
  cuGraphMemcpyNodeSetParams(known, &p);                         // EXPECT: host-pointer
  cuGraphExecMemcpyNodeSetParams(exec, n, &p, context);      // EXPECT: host-pointer
  CUgraphNodeParams whole = {};
  whole.type = CU_GRAPH_NODE_TYPE_MEMCPY;
  whole.memcpy.copyParams.srcMemoryType = CU_MEMORYTYPE_HOST;
  whole.memcpy.copyParams.srcHost = local;
  cuGraphAddNode(&n, g, nullptr, nullptr, 0, &whole);        // EXPECT: host-pointer
  cuGraphNodeSetParams(known, &whole);                           // EXPECT: host-pointer
  cuGraphExecNodeSetParams(exec, n, &whole);                 // EXPECT: host-pointer
}
// A graph that is made here lives on where it is returned or kept.
cudaGraph_t returned(float* d) {
  cudaGraph_t g = nullptr;
  cudaGraphNode_t n;
  std::vector<float> list(4);
  cudaGraphCreate(&g, 0);
  cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, d, list.data(), 16, cudaMemcpyHostToDevice);  // EXPECT: host-pointer
  return g;
}
void kept(Step& step, float* d) {
  cudaGraph_t g = nullptr;
  cudaGraphNode_t n;
  std::vector<float> list(4);
  cudaGraphCreate(&g, 0);
  cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, d, list.data(), 16, cudaMemcpyHostToDevice);  // EXPECT: host-pointer
  step.graph = g;
}
static void add(cudaGraph_t g, float* d, const std::vector<float>& list) {
  cudaGraphNode_t n;
  cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, d, list.data(), 16, cudaMemcpyHostToDevice);  // CLEAN: host-pointer, its owner may outlive it
}
void launched_here(float* d, cudaStream_t s) {
  cudaGraph_t g = nullptr;
  cudaGraphNode_t n;
  cudaGraphExec_t exec = nullptr;
  std::vector<float> list(4);
  cudaGraphCreate(&g, 0);
  cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, d, list.data(), 16, cudaMemcpyHostToDevice);  // CLEAN: host-pointer, launched while it lives
  add(g, d, list);
  cudaGraphInstantiate(&exec, g, 0);
  cudaGraphLaunch(exec, s);
  cudaStreamSynchronize(s);
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(g);
}
static void launch(cudaGraphExec_t exec, cudaStream_t s) {
  cudaGraphLaunch(exec, s);
  cudaStreamSynchronize(s);
}
void given_and_launched(Step& step, float* d, cudaStream_t s) {
  std::vector<float> list(4);
  cudaGraphExecMemcpyNodeSetParams1D(step.exec, step.copy, d, list.data(), 16, cudaMemcpyHostToDevice);  // CLEAN: host-pointer
  launch(step.exec, s);
}
void only_looked_at(float* d) {
  cudaGraph_t g = nullptr;
  cudaGraphNode_t n;
  float local[4] = {};
  cudaGraphCreate(&g, 0);
  cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, d, local, 16, cudaMemcpyHostToDevice);  // CLEAN: host-pointer, it goes first
  cudaGraphDestroy(g);
}
void of_what_lives_on(Step& step, float* d, float* h) {
  cudaGraphNode_t n;
  float* pinned = nullptr;
  cudaMallocHost(&pinned, 16);
  static float forever[4];
  cudaGraphAddMemcpyNode1D(&n, step.graph, nullptr, 0, d, step.kept.data(), 16, cudaMemcpyHostToDevice);  // CLEAN: host-pointer
  cudaGraphAddMemcpyNode1D(&n, step.graph, nullptr, 0, d, pinned, 16, cudaMemcpyHostToDevice);  // CLEAN: host-pointer
  cudaGraphAddMemcpyNode1D(&n, step.graph, nullptr, 0, d, forever, 16, cudaMemcpyHostToDevice);  // CLEAN: host-pointer
  cudaGraphAddMemcpyNode1D(&n, step.graph, nullptr, 0, d, h, 16, cudaMemcpyHostToDevice);  // CLEAN: host-pointer
}
void handed_on(Step& step, float* d) {
  cudaGraphNode_t n;
  std::vector<float> list(4);
  cudaGraphAddMemcpyNode1D(&n, step.graph, nullptr, 0, d, list.data(), 16, cudaMemcpyHostToDevice);  // CLEAN: host-pointer
  step.kept = std::move(list);
}
// The same calls over pinned memory, and over memory that others own.
void of_pinned_memory(Step& step, CUgraph g, CUgraphExec exec, CUgraphNode known, CUcontext context, cudaPitchedPtr d) {
  cudaGraphNode_t n;
  CUgraphNode node;
  float* h = nullptr;
  cudaMallocHost(&h, 16);
  cudaGraphAddMemcpyNodeFromSymbol(&n, step.graph, nullptr, 0, h, table, 16, 0, cudaMemcpyDeviceToHost);  // CLEAN: host-pointer
  cudaGraphAddMemcpyNodeToSymbol(&n, step.graph, nullptr, 0, table, h, 16, 0, cudaMemcpyHostToDevice);    // CLEAN: host-pointer
  cudaGraphMemcpyNodeSetParamsToSymbol(step.copy, table, h, 16, 0, cudaMemcpyHostToDevice);               // CLEAN: host-pointer
  cudaGraphMemcpyNodeSetParamsFromSymbol(step.copy, h, table, 16, 0, cudaMemcpyDeviceToHost);             // CLEAN: host-pointer
  cudaGraphExecMemcpyNodeSetParamsToSymbol(step.exec, n, table, h, 16, 0, cudaMemcpyHostToDevice);        // CLEAN: host-pointer
  cudaGraphExecMemcpyNodeSetParamsFromSymbol(step.exec, n, h, table, 16, 0, cudaMemcpyDeviceToHost);      // CLEAN: host-pointer
  cudaMemcpy3DParms p = {};
  p.srcPtr = make_cudaPitchedPtr(h, 16, 4, 1);
  p.dstPtr = d;
  p.kind = cudaMemcpyHostToDevice;
  cudaGraphAddMemcpyNode(&n, step.graph, nullptr, 0, &p);      // CLEAN: host-pointer
  cudaGraphMemcpyNodeSetParams(step.copy, &p);                 // CLEAN: host-pointer
  cudaGraphExecMemcpyNodeSetParams(step.exec, step.copy, &p);  // CLEAN: host-pointer
  cudaGraphNodeParams whole = {};
  whole.type = cudaGraphNodeTypeMemcpy;
  whole.memcpy.copyParams = p;
  cudaGraphAddNode(&n, step.graph, nullptr, nullptr, 0, &whole);  // CLEAN: host-pointer
  cudaGraphNodeSetParams(step.copy, &whole);                      // CLEAN: host-pointer
  cudaGraphExecNodeSetParams(step.exec, step.copy, &whole);       // CLEAN: host-pointer
  CUDA_MEMCPY3D q = {};
  q.srcMemoryType = CU_MEMORYTYPE_HOST;
  q.srcHost = h;
  cuGraphAddMemcpyNode(&node, g, nullptr, 0, &q, context);  // CLEAN: host-pointer
  cuGraphMemcpyNodeSetParams(known, &q);                    // CLEAN: host-pointer
  cuGraphExecMemcpyNodeSetParams(exec, known, &q, context); // CLEAN: host-pointer
  CUgraphNodeParams all = {};
  all.type = CU_GRAPH_NODE_TYPE_MEMCPY;
  all.memcpy.copyParams = q;
  cuGraphAddNode(&node, g, nullptr, nullptr, 0, &all);  // CLEAN: host-pointer
  cuGraphNodeSetParams(known, &all);                    // CLEAN: host-pointer
  cuGraphExecNodeSetParams(exec, known, &all);          // CLEAN: host-pointer
}
