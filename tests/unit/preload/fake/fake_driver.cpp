// The fake libcuda.so.1.
#include "tests/unit/preload/fake/fake_cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <atomic>
#include <map>
#include <mutex>
#include <vector>

FakeCupti g_fake_cupti;
__thread CUcontext g_fake_context;
int g_fake_drop_enters;
int g_fake_second_device = 1;

namespace {
std::mutex g_mutex;
std::map<uint64_t, size_t> g_device_memory, g_pinned_memory;
std::map<CUgraph, std::vector<fake::Node*>> g_graphs;
std::atomic<uint32_t> g_correlation{1};
std::atomic<uint64_t> g_capture_id{100};
std::atomic<uint64_t> g_handle{0x10000000};
}  // namespace

uint64_t fake_next_handle() {
  return g_handle += 64;
}

namespace fake {

Call::Call(CUpti_CallbackDomain domain, uint32_t cbid, const char* name, const void* params,
           const char* symbol)
    : domain_(domain), cbid_(cbid) {
  data_.functionName = name;
  data_.functionParams = params;
  data_.symbolName = symbol;
  data_.correlationData = &correlation_;
  data_.correlationId = g_correlation++;
  if (g_fake_drop_enters > 0) {
    --g_fake_drop_enters;
    return;
  }
  deliver(CUPTI_API_ENTER);
}

Call::~Call() {
  deliver(CUPTI_API_EXIT);
}

void Call::deliver(CUpti_ApiCallbackSite site) {
  const FakeCupti& cupti = g_fake_cupti;
  if (cupti.callback == nullptr || cupti.enabled[uint32_t(domain_) * kFakeIds + cbid_] == 0) return;
  data_.callbackSite = site;
  data_.context = g_fake_context;
  data_.functionReturnValue = &result_;
  cupti.callback(cupti.user, domain_, cbid_, &data_);
}

void resource(CUpti_CallbackIdResource cbid, void* stream, void* descriptor) {
  resource_of(g_fake_context, cbid, stream, descriptor);
}

void resource_of(CUcontext context, CUpti_CallbackIdResource cbid, void* stream, void* descriptor) {
  const FakeCupti& cupti = g_fake_cupti;
  if (cupti.callback == nullptr || cupti.enabled[CUPTI_CB_DOMAIN_RESOURCE * kFakeIds + cbid] == 0) return;
  CUpti_ResourceData data{};
  data.context = context;
  data.resourceHandle.stream = static_cast<CUstream>(stream);
  data.resourceDescriptor = descriptor;
  cupti.callback(cupti.user, CUPTI_CB_DOMAIN_RESOURCE, cbid, &data);
}

Node* add_node(CUgraph graph, CUgraphNodeType type) {
  auto* node = new Node{};
  node->type = type;
  {
    std::lock_guard lock(g_mutex);
    g_graphs[graph].push_back(node);
  }
  CUpti_GraphData data{};
  data.graph = graph;
  data.node = reinterpret_cast<CUgraphNode>(node);
  data.nodeType = type;
  resource(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, nullptr, &data);
  return node;
}

Stream* stream_of(CUstream stream) {
  return reinterpret_cast<uint64_t>(stream) > 2 ? reinterpret_cast<Stream*>(stream) : nullptr;
}

}  // namespace fake

#define DRIVER_CALL(name, params) \
  fake::Call call(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_##name, #name, params)

extern "C" {

CUresult cuInit(unsigned int flags) {
  cuInit_params params{flags};
  DRIVER_CALL(cuInit, &params);
  static std::once_flag once;
  std::call_once(once, [] {
    // As the driver does: the tool is loaded while it initialises.
    if (const char* path = getenv("CUDA_INJECTION64_PATH")) {
      if (void* lib = dlopen(path, RTLD_NOW)) {
        if (auto init = reinterpret_cast<int (*)()>(dlsym(lib, "InitializeInjection"))) init();
      }
    }
  });
  return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int* version) {
  return *version = 13000, CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice* device) {
  return *device = g_fake_context == kFakeContextOfDevice1 ? g_fake_second_device : 0, CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext* context) {
  return *context = g_fake_context, CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int* count) {
  return *count = 1, CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char* name, int size, CUdevice) {
  return snprintf(name, size_t(size), "Fake GPU"), CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute which, CUdevice) {
  *value = which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 9 : 0;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice) {
  return memset(uuid, 7, sizeof(*uuid)), CUDA_SUCCESS;
}

CUresult cuStreamGetCaptureInfo_v2(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph*,
                                   const CUgraphNode**, size_t*) {
  const fake::Stream* stream = fake::stream_of(handle);
  // The legacy stream must never be asked.
  if (handle == nullptr || handle == CU_STREAM_LEGACY) {
    fprintf(stderr, "fake: cuStreamGetCaptureInfo on the legacy stream\n");
    abort();
  }
  *status = stream != nullptr ? stream->status : CU_STREAM_CAPTURE_STATUS_NONE;
  if (id != nullptr && stream != nullptr) *id = stream->id;
  return CUDA_SUCCESS;
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  static thread_local CUstreamCaptureMode now = CU_STREAM_CAPTURE_MODE_GLOBAL;
  cuThreadExchangeStreamCaptureMode_params params{mode};
  DRIVER_CALL(cuThreadExchangeStreamCaptureMode, &params);
  std::swap(now, *mode);
  return CUresult(call.returns(0));
}

CUresult cuPointerGetAttribute(void* out, CUpointer_attribute which, CUdeviceptr address) {
  std::lock_guard lock(g_mutex);
  const auto inside = [&](const std::map<uint64_t, size_t>& all) {
    auto at = all.upper_bound(address);
    return at != all.begin() && (--at, address < at->first + at->second);
  };
  const bool device = inside(g_device_memory), pinned = inside(g_pinned_memory);
  if (!device && !pinned) return CUDA_ERROR_INVALID_VALUE;
  if (which == CU_POINTER_ATTRIBUTE_IS_MANAGED) return *static_cast<unsigned*>(out) = 0, CUDA_SUCCESS;
  *static_cast<CUmemorytype*>(out) = device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
  return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr* out, size_t bytes) {
  cuMemAlloc_v2_params params{out, bytes};
  DRIVER_CALL(cuMemAlloc_v2, &params);
  *out = reinterpret_cast<CUdeviceptr>(malloc(bytes));
  std::lock_guard lock(g_mutex);
  g_device_memory[*out] = bytes;
  return CUresult(call.returns(0));
}

CUresult cuMemHostAlloc(void** out, size_t bytes, unsigned int flags) {
  cuMemHostAlloc_params params{out, bytes, flags};
  DRIVER_CALL(cuMemHostAlloc, &params);
  *out = malloc(bytes);
  std::lock_guard lock(g_mutex);
  g_pinned_memory[reinterpret_cast<uint64_t>(*out)] = bytes;
  return CUresult(call.returns(0));
}

CUresult cuStreamCreate(CUstream* out, unsigned int flags) {
  cuStreamCreate_params params{out, flags};
  DRIVER_CALL(cuStreamCreate, &params);
  auto* stream = new fake::Stream;
  stream->blocking = flags == 0;
  stream->context = g_fake_context;
  *out = reinterpret_cast<CUstream>(stream);
  fake::resource(CUPTI_CBID_RESOURCE_STREAM_CREATED, stream, nullptr);
  return CUresult(call.returns(0));
}

CUresult cuStreamSynchronize(CUstream handle) {
  cuStreamSynchronize_params params{handle};
  DRIVER_CALL(cuStreamSynchronize, &params);
  fake::Stream* stream = fake::stream_of(handle);
  if (stream == nullptr || stream->status == CU_STREAM_CAPTURE_STATUS_NONE) return CUresult(call.returns(0));
  const bool dead = stream->status == CU_STREAM_CAPTURE_STATUS_INVALIDATED;
  stream->status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
  return CUresult(call.returns(dead ? 901 : 900));
}

CUresult cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode mode) {
  cuStreamBeginCapture_v2_params params{handle, mode};
  DRIVER_CALL(cuStreamBeginCapture_v2, &params);
  fake::Stream* stream = fake::stream_of(handle);
  stream->status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  stream->id = g_capture_id++;
  stream->graph = reinterpret_cast<CUgraph>(fake_next_handle());
  CUpti_GraphData data{};
  data.graph = stream->graph;
  fake::resource(CUPTI_CBID_RESOURCE_GRAPH_CREATED, nullptr, &data);
  return CUresult(call.returns(0));
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph* graph) {
  cuStreamEndCapture_params params{handle, graph};
  DRIVER_CALL(cuStreamEndCapture, &params);
  fake::Stream* stream = fake::stream_of(handle);
  const bool dead = stream->status == CU_STREAM_CAPTURE_STATUS_INVALIDATED;
  stream->status = CU_STREAM_CAPTURE_STATUS_NONE;
  *graph = dead ? nullptr : stream->graph;
  return CUresult(call.returns(dead ? 901 : 0));
}

// symbol: the kernel's name. args: one 64-bit and one 32-bit argument.
CUresult fake_launch(CUstream handle, CUfunction f, const char* symbol, uint64_t a, uint32_t b) {
  cuLaunchKernel_params params{};
  params.f = f;
  params.gridDimX = 4, params.gridDimY = 2, params.gridDimZ = 1;
  params.blockDimX = 128, params.blockDimY = 1, params.blockDimZ = 1;
  params.hStream = handle;
  params.sharedMemBytes = 512;
  void* arguments[] = {&a, &b};
  params.kernelParams = arguments;
  fake::Call call(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, "cuLaunchKernel",
                  &params, symbol);
  fake::Stream* stream = fake::stream_of(handle);
  if (stream != nullptr && stream->context != kFakeContextOfDevice1 && f == kFakeFunctionOfDevice1)
    return CUresult(call.returns(CUDA_ERROR_INVALID_HANDLE));
  if (stream != nullptr && stream->status == CU_STREAM_CAPTURE_STATUS_ACTIVE) {
    fake::Node* node = fake::add_node(stream->graph, CU_GRAPH_NODE_TYPE_KERNEL);
    node->storage[0] = a;
    node->storage[1] = b;
    node->values[0] = &node->storage[0];
    node->values[1] = &node->storage[1];
    node->kernel.func = f;
    node->kernel.gridDimX = 4, node->kernel.gridDimY = 2, node->kernel.gridDimZ = 1;
    node->kernel.blockDimX = 128, node->kernel.blockDimY = 1, node->kernel.blockDimZ = 1;
    node->kernel.kernelParams = node->values;
  }
  return CUresult(call.returns(0));
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void* src, size_t bytes, CUstream handle) {
  cuMemcpyHtoDAsync_v2_params params{dst, src, bytes, handle};
  DRIVER_CALL(cuMemcpyHtoDAsync_v2, &params);
  fake::Stream* stream = fake::stream_of(handle);
  if (stream != nullptr && stream->status == CU_STREAM_CAPTURE_STATUS_ACTIVE) {
    fake::Node* node = fake::add_node(stream->graph, CU_GRAPH_NODE_TYPE_MEMCPY);
    node->copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    node->copy.srcHost = src;
    node->copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    node->copy.dstDevice = dst;
    node->copy.WidthInBytes = bytes;
    node->copy.Height = node->copy.Depth = 1;
  }
  return CUresult(call.returns(0));
}

CUresult cuModuleLoadData(CUmodule* out, const void* image) {
  cuModuleLoadData_params params{out, image};
  DRIVER_CALL(cuModuleLoadData, &params);
  *out = reinterpret_cast<CUmodule>(fake_next_handle());
  CUpti_ModuleResourceData data{};
  data.moduleId = 3;
  data.cubinSize = 4096;
  fake::resource(CUPTI_CBID_RESOURCE_MODULE_LOADED, nullptr, &data);
  return CUresult(call.returns(0));
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  std::lock_guard lock(g_mutex);
  const auto& all = g_graphs[graph];
  for (size_t i = 0; nodes != nullptr && i < all.size() && i < *count; ++i)
    nodes[i] = reinterpret_cast<CUgraphNode>(all[i]);
  *count = all.size();
  return CUDA_SUCCESS;
}

// A chain: each node depends on the one before.
CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data,
                            size_t* count) {
  std::lock_guard lock(g_mutex);
  const auto& all = g_graphs[graph];
  const size_t edges = all.empty() ? 0 : all.size() - 1;
  for (size_t i = 0; from != nullptr && i < edges; ++i) {
    if (data == nullptr) return CUDA_ERROR_LOSSY_QUERY;
    from[i] = reinterpret_cast<CUgraphNode>(all[i]);
    to[i] = reinterpret_cast<CUgraphNode>(all[i + 1]);
  }
  *count = edges;
  return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type) {
  return *type = reinterpret_cast<fake::Node*>(node)->type, CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* params) {
  return *params = reinterpret_cast<fake::Node*>(node)->kernel, CUDA_SUCCESS;
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D* params) {
  return *params = reinterpret_cast<fake::Node*>(node)->copy, CUDA_SUCCESS;
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph* graph) {
  return *graph = reinterpret_cast<fake::Node*>(node)->child, CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode, CUlaunchAttributeID, CUlaunchAttributeValue*) {
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuFuncGetName(const char** name, CUfunction) {
  return *name = "decode_kernel", CUDA_SUCCESS;
}

CUresult cuFuncGetParamInfo(CUfunction, size_t index, size_t* offset, size_t* size) {
  if (index > 1) return CUDA_ERROR_INVALID_VALUE;
  *offset = index * 8;
  *size = index == 0 ? 8 : 4;
  return CUDA_SUCCESS;
}

}  // extern "C"
