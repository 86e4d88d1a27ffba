#include "detector/preload/cuda/driver_api.h"

#include <dlfcn.h>

#include "detector/preload/cuda/host_place.h"
#include "detector/preload/system/sys.h"

namespace capgate::preload {

constinit DriverApi g_driver{};

namespace {

template <class F>
void find(void* lib, F& function, const char* name, const char* older = nullptr) {
  function = reinterpret_cast<F>(dlsym(lib, name));
  if (function == nullptr && older != nullptr) function = reinterpret_cast<F>(dlsym(lib, older));
}

struct ContextDevice {
  std::atomic<uint64_t> context{0};
  std::atomic<int32_t> device{0};
};
ContextDevice g_contexts[64];

ContextDevice& context_slot(uint64_t context) {
  return g_contexts[(context >> 6) % 64];
}

}  // namespace

bool find_driver() {
  void* lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (lib == nullptr) return false;
  find(lib, g_driver.get_capture_info, "cuStreamGetCaptureInfo_v2");
  find(lib, g_driver.exchange_mode, "cuThreadExchangeStreamCaptureMode");
  find(lib, g_driver.pointer_attribute, "cuPointerGetAttribute");
  find(lib, g_driver.ctx_get_device, "cuCtxGetDevice");
  find(lib, g_driver.ctx_get_current, "cuCtxGetCurrent");
  find(lib, g_driver.driver_version, "cuDriverGetVersion");
  find(lib, g_driver.device_count, "cuDeviceGetCount");
  find(lib, g_driver.device_name, "cuDeviceGetName");
  find(lib, g_driver.device_attribute, "cuDeviceGetAttribute");
  find(lib, g_driver.device_uuid, "cuDeviceGetUuid_v2", "cuDeviceGetUuid");
  find(lib, g_driver.graph_nodes, "cuGraphGetNodes");
  find(lib, g_driver.graph_edges, "cuGraphGetEdges");
  find(lib, g_driver.graph_edges_with_data, "cuGraphGetEdges_v2");
  find(lib, g_driver.node_type, "cuGraphNodeGetType");
  find(lib, g_driver.kernel_params, "cuGraphKernelNodeGetParams_v2");
  find(lib, g_driver.memcpy_params, "cuGraphMemcpyNodeGetParams");
  find(lib, g_driver.memset_params, "cuGraphMemsetNodeGetParams");
  find(lib, g_driver.host_params, "cuGraphHostNodeGetParams");
  find(lib, g_driver.alloc_params, "cuGraphMemAllocNodeGetParams");
  find(lib, g_driver.free_params, "cuGraphMemFreeNodeGetParams");
  find(lib, g_driver.child_graph, "cuGraphChildGraphNodeGetGraph");
  find(lib, g_driver.node_attribute, "cuGraphKernelNodeGetAttribute");
  find(lib, g_driver.func_name, "cuFuncGetName");
  find(lib, g_driver.func_module, "cuFuncGetModule");
  find(lib, g_driver.kernel_name, "cuKernelGetName");
  find(lib, g_driver.func_param_info, "cuFuncGetParamInfo");
  find(lib, g_driver.kernel_param_info, "cuKernelGetParamInfo");
  return true;
}

StreamCapture stream_capture(uint64_t stream, bool per_thread) {
  if (g_driver.get_capture_info == nullptr) return {255, 0};
  if (stream == 0 && per_thread) stream = 2;  // CU_STREAM_PER_THREAD
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  cuuint64_t id = 0;
  if (g_driver.get_capture_info(reinterpret_cast<CUstream>(stream), &status, &id, nullptr, nullptr,
                                nullptr) != CUDA_SUCCESS)
    return {255, 0};
  return {uint8_t(status), status == CU_STREAM_CAPTURE_STATUS_NONE ? 0 : id};
}

uint64_t memory_bytes(uint64_t address) {
  if (address == 0 || g_driver.pointer_attribute == nullptr) return 0;
  size_t bytes = 0;
  const CUresult result = g_driver.pointer_attribute(&bytes, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address);
  return result == CUDA_SUCCESS ? bytes : 0;
}

trace::Memory memory_kind(uint64_t address) {
  if (address == 0 || g_driver.pointer_attribute == nullptr) return trace::Memory::unknown;
  auto type = CUmemorytype(0);
  const CUresult result = g_driver.pointer_attribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address);
  // CUDA does not know it: host memory, or an address that only a graph's own allocation will give meaning
  // to.
  if (result == CUDA_ERROR_INVALID_VALUE)
    return host_readable(address) ? trace::Memory::pageable : trace::Memory::unknown;
  if (result != CUDA_SUCCESS) return trace::Memory::unknown;
  unsigned int managed = 0;
  if (g_driver.pointer_attribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address) == CUDA_SUCCESS &&
      managed != 0)
    return trace::Memory::managed;
  switch (int(type)) {
    case CU_MEMORYTYPE_HOST:
      return trace::Memory::pinned;
    case CU_MEMORYTYPE_DEVICE:
      return trace::Memory::device;
    case CU_MEMORYTYPE_ARRAY:
      return trace::Memory::array;
    case CU_MEMORYTYPE_UNIFIED:
      return trace::Memory::managed;
    default:
      return trace::Memory::pageable;
  }
}

int32_t current_device(uint64_t context) {
  if (context == 0) return trace::kNoDevice;
  ContextDevice& slot = context_slot(context);
  if (slot.context.load(std::memory_order_acquire) == context)
    return slot.device.load(std::memory_order_relaxed);
  CUdevice device = 0;
  if (g_driver.ctx_get_device == nullptr || g_driver.ctx_get_device(&device) != CUDA_SUCCESS)
    return trace::kNoDevice;
  slot.context.store(0, std::memory_order_relaxed);
  slot.device.store(device, std::memory_order_relaxed);
  slot.context.store(context, std::memory_order_release);
  return device;
}

int32_t context_device(uint64_t context) {
  if (context == 0) return trace::kNoDevice;
  ContextDevice& slot = context_slot(context);
  if (slot.context.load(std::memory_order_acquire) == context)
    return slot.device.load(std::memory_order_relaxed);
  CUcontext current = nullptr;
  if (g_driver.ctx_get_current == nullptr || g_driver.ctx_get_current(&current) != CUDA_SUCCESS ||
      reinterpret_cast<uint64_t>(current) != context)
    return trace::kNoDevice;
  return current_device(context);
}

void forget_context(uint64_t context) {
  uint64_t held = context;
  context_slot(context).context.compare_exchange_strong(held, 0);
}

}  // namespace capgate::preload
