// Scenarios of the audited program in which graphs are built, nested, changed and refused, with the fake
// runtime's calls for that.
#include <stdlib.h>

#include "tests/unit/preload/fake/fake_runtime.h"

namespace {

template <class T>
T handle() {
  return reinterpret_cast<T>(fake_next_handle());
}

CUgraphNode driver_node(fake::Node* node) {
  return reinterpret_cast<CUgraphNode>(node);
}

cudaGraph_t create() {
  cudaGraph_t graph = nullptr;
  cudaGraphCreate_v10000_params params{&graph, 0};
  fake::Call call(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaGraphCreate_v10000,
                  "cudaGraphCreate", &params);
  graph = handle<cudaGraph_t>();
  CUpti_GraphData data{};
  data.graph = reinterpret_cast<CUgraph>(graph);
  fake::resource(CUPTI_CBID_RESOURCE_GRAPH_CREATED, nullptr, &data);
  return graph;
}

__attribute__((noinline)) cudaGraphNode_t add_copy(cudaGraph_t graph, void* dst, const void* src,
                                                   size_t bytes) {
  cudaGraphNode_t node = nullptr;
  cudaGraphAddMemcpyNode1D_v11010_params params{&node, graph, nullptr, 0,
                                                dst,   src,   bytes,   cudaMemcpyHostToDevice};
  fake::Call call(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaGraphAddMemcpyNode1D_v11010,
                  "cudaGraphAddMemcpyNode1D", &params);
  fake::Node* made = fake::add_node(reinterpret_cast<CUgraph>(graph), CU_GRAPH_NODE_TYPE_MEMCPY);
  made->copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  made->copy.srcHost = src;
  made->copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  made->copy.dstDevice = reinterpret_cast<CUdeviceptr>(dst);
  made->copy.WidthInBytes = bytes;
  made->copy.Height = made->copy.Depth = 1;
  node = reinterpret_cast<cudaGraphNode_t>(made);
  return node;
}

// A kernel node whose arguments are given as one block.
void add_kernel_with_block(cudaGraph_t graph) {
  static const struct {
    uint64_t pointer;
    uint32_t count, padding;
  } block{0xfeed, 77, 0};
  static size_t bytes = sizeof(block);
  static void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, const_cast<void*>(static_cast<const void*>(&block)),
                          CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  CUgraphNode node = nullptr;
  cuGraphAddKernelNode_v2_params params{&node, reinterpret_cast<CUgraph>(graph), nullptr, 0, nullptr};
  fake::Call call(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphAddKernelNode_v2,
                  "cuGraphAddKernelNode_v2", &params);
  fake::Node* made = fake::add_node(reinterpret_cast<CUgraph>(graph), CU_GRAPH_NODE_TYPE_KERNEL);
  made->kernel.func = reinterpret_cast<CUfunction>(0x7000);
  made->kernel.gridDimX = made->kernel.gridDimY = made->kernel.gridDimZ = 1;
  made->kernel.extra = extra;
  node = driver_node(made);
}

cudaGraph_t add_body(cudaGraph_t graph) {
  static cudaGraph_t bodies[1];
  cudaGraphNode_t node = nullptr;
  cudaGraphNodeParams node_params{};
  node_params.type = cudaGraphNodeTypeConditional;
  node_params.conditional.size = 1;
  cudaGraphAddNode_v12030_params params{&node, graph, nullptr, nullptr, 0, &node_params};
  fake::Call call(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaGraphAddNode_v12030,
                  "cudaGraphAddNode", &params);
  node = reinterpret_cast<cudaGraphNode_t>(
      fake::add_node(reinterpret_cast<CUgraph>(graph), CU_GRAPH_NODE_TYPE_CONDITIONAL));
  bodies[0] = handle<cudaGraph_t>();
  node_params.conditional.phGraph_out = bodies;
  return bodies[0];
}

cudaGraphNode_t add_child(cudaGraph_t graph, cudaGraph_t child) {
  cudaGraphNode_t node = nullptr;
  cudaGraphAddChildGraphNode_v10000_params params{&node, graph, nullptr, 0, child};
  fake::Call call(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaGraphAddChildGraphNode_v10000,
                  "cudaGraphAddChildGraphNode", &params);
  fake::Node* made = fake::add_node(reinterpret_cast<CUgraph>(graph), CU_GRAPH_NODE_TYPE_GRAPH);
  made->child = reinterpret_cast<CUgraph>(child);
  node = reinterpret_cast<cudaGraphNode_t>(made);
  return node;
}

int set_child(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t child) {
  cudaGraphExecChildGraphNodeSetParams_v11010_params params{exec, node, child};
  fake::Call call(CUPTI_CB_DOMAIN_RUNTIME_API,
                  CUPTI_RUNTIME_TRACE_CBID_cudaGraphExecChildGraphNodeSetParams_v11010,
                  "cudaGraphExecChildGraphNodeSetParams", &params);
  return call.returns(0);
}

int set_enabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled) {
  cudaGraphNodeSetEnabled_v11060_params params{exec, node, enabled};
  fake::Call call(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaGraphNodeSetEnabled_v11060,
                  "cudaGraphNodeSetEnabled", &params);
  return call.returns(0);
}

__attribute__((noinline)) int set_copy_of_driver(cudaGraphExec_t exec, cudaGraphNode_t node, void* dst,
                                                 const void* src, size_t bytes) {
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = src;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = reinterpret_cast<CUdeviceptr>(dst);
  copy.WidthInBytes = bytes;
  copy.Height = copy.Depth = 1;
  cuGraphExecMemcpyNodeSetParams_params params{reinterpret_cast<CUgraphExec>(exec),
                                               reinterpret_cast<CUgraphNode>(node), &copy, nullptr};
  fake::Call call(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuGraphExecMemcpyNodeSetParams,
                  "cuGraphExecMemcpyNodeSetParams", &params);
  return call.returns(0);
}

// The runtime gives the driver its own structure.
int set_copy(cudaGraphExec_t exec, cudaGraphNode_t node, void* dst, const void* src, size_t bytes) {
  cudaGraphExecMemcpyNodeSetParams1D_v11010_params params{exec, node,  dst,
                                                          src,  bytes, cudaMemcpyHostToDevice};
  fake::Call call(CUPTI_CB_DOMAIN_RUNTIME_API,
                  CUPTI_RUNTIME_TRACE_CBID_cudaGraphExecMemcpyNodeSetParams1D_v11010,
                  "cudaGraphExecMemcpyNodeSetParams1D", &params);
  return call.returns(set_copy_of_driver(exec, node, dst, src, bytes));
}

}  // namespace

void builds_a_graph() {
  cudaStream_t stream = nullptr;
  void* device = nullptr;
  fake_rt::stream_create(&stream, cudaStreamNonBlocking);
  fake_rt::malloc_device(&device, 4096);
  void* heap = malloc(64);
  cudaGraph_t graph = create();
  add_copy(graph, device, heap, 64);
  add_kernel_with_block(graph);
  cudaGraphExec_t first = nullptr, again = nullptr;
  fake_rt::graph_instantiate(&first, graph);
  fake_rt::graph_instantiate(&again, graph);  // nothing has changed
  add_copy(graph, device, heap, 32);
  fake_rt::graph_instantiate(&again, graph);
  fake_rt::graph_launch(first, stream);
}

void nests_graphs() {
  cudaStream_t stream = nullptr;
  void* device = nullptr;
  fake_rt::stream_create(&stream, cudaStreamNonBlocking);
  fake_rt::malloc_device(&device, 4096);
  static char data[64];
  cudaGraph_t inner = create(), graph = create();
  add_copy(inner, device, data, 16);
  add_child(graph, inner);
  add_copy(add_body(graph), device, data, 24);
  cudaGraphExec_t exec = nullptr;
  fake_rt::graph_instantiate(&exec, graph);
}

void changes_an_executable() {
  cudaStream_t stream = nullptr;
  void* device = nullptr;
  fake_rt::stream_create(&stream, cudaStreamNonBlocking);
  fake_rt::malloc_device(&device, 4096);
  static char data[64];
  cudaGraph_t graph = create();
  cudaGraphNode_t copy = add_copy(graph, device, data, 64);
  cudaGraphExec_t exec = nullptr;
  fake_rt::graph_instantiate(&exec, graph);
  set_copy(exec, copy, device, malloc(48), 48);
  fake_rt::graph_launch(exec, stream);
}

void changes_a_child() {
  void* device = nullptr;
  fake_rt::malloc_device(&device, 4096);
  static char data[64];
  cudaGraph_t inner = create(), other = create(), graph = create();
  add_copy(inner, device, data, 16);
  cudaGraphNode_t child = add_child(graph, inner);
  cudaGraphExec_t exec = nullptr;
  fake_rt::graph_instantiate(&exec, graph);
  add_copy(other, device, data, 40);
  set_child(exec, child, other);
  set_enabled(exec, child, 0);
  set_enabled(exec, child, 1);
}

void refused_graphs() {
  void* device = nullptr;
  fake_rt::malloc_device(&device, 4096);
  static char data[64];
  cudaGraph_t graph = create();
  cudaGraphNode_t first = add_copy(graph, device, data, 64), second = add_copy(graph, device, data, 32);
  {
    cudaGraphExec_t exec = nullptr;
    cudaGraphInstantiateParams how{};
    cudaGraphInstantiateWithParams_v12000_params params{&exec, graph, &how};
    fake::Call call(CUPTI_CB_DOMAIN_RUNTIME_API,
                    CUPTI_RUNTIME_TRACE_CBID_cudaGraphInstantiateWithParams_v12000,
                    "cudaGraphInstantiateWithParams", &params);
    how.errNode_out = second;
    how.result_out = cudaGraphInstantiateNodeOperationNotSupported;
    call.returns(1);
  }
  {
    cudaGraphExecUpdateResultInfo info{cudaGraphExecUpdateErrorTopologyChanged, first, second};
    cudaGraphExecUpdate_v10020_params params{handle<cudaGraphExec_t>(), graph, &info};
    fake::Call call(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaGraphExecUpdate_v10020,
                    "cudaGraphExecUpdate", &params);
    call.returns(910);
  }
}
