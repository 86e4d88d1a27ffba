// Modules, streams, events, device settings and plain queries.
#include <cuda_profiler_api.h>

#include "cell.h"

namespace legality {
namespace {

const char kModule[] = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry bump(.param .u64 bump_x) {
  ret;
}
)";

int load_module(Things& t) {
  return cuModuleLoadData(reinterpret_cast<CUmodule*>(&t.spare), kModule);
}
int load_library(Things& t) {
  return cuLibraryLoadData(reinterpret_cast<CUlibrary*>(&t.spare), kModule, nullptr, nullptr, 0, nullptr,
                           nullptr, 0);
}
int make_stream(Things& t) {
  return cudaStreamCreateWithFlags(reinterpret_cast<cudaStream_t*>(&t.spare), cudaStreamNonBlocking);
}

}  // namespace

std::vector<Call> object_calls() {
  const char* module = "module";
  const char* object = "stream or event";
  const char* setting = "device setting";
  const char* query = "plain query";
  return {
      {module, "cuModuleLoadData", load_module},
      {module, "cuModuleUnload",
       [](Things& t) -> int { return cuModuleUnload(static_cast<CUmodule>(t.spare)); }, load_module},
      {module, "cuModuleGetFunction",
       [](Things& t) -> int {
         CUfunction function = nullptr;
         return cuModuleGetFunction(&function, static_cast<CUmodule>(t.spare), "bump");
       },
       load_module},
      {module, "cuLibraryLoadData", load_library},
      {module, "cuLibraryUnload",
       [](Things& t) -> int { return cuLibraryUnload(static_cast<CUlibrary>(t.spare)); }, load_library},
      {module, "cuLibraryGetKernel",
       [](Things& t) -> int {
         CUkernel kernel = nullptr;
         return cuLibraryGetKernel(&kernel, static_cast<CUlibrary>(t.spare), "bump");
       },
       load_library},
      {object, "cudaStreamCreateWithFlags(non-blocking)", make_stream},
      {object, "cudaStreamCreate",
       [](Things& t) -> int { return cudaStreamCreate(reinterpret_cast<cudaStream_t*>(&t.spare)); }},
      {object, "cudaStreamDestroy(unused)",
       [](Things& t) -> int { return cudaStreamDestroy(static_cast<cudaStream_t>(t.spare)); }, make_stream},
      {object, "cudaStreamDestroy(captured)", [](Things& t) -> int { return cudaStreamDestroy(t.captured); }},
      {object, "cudaEventCreateWithFlags",
       [](Things& t) -> int {
         return cudaEventCreateWithFlags(reinterpret_cast<cudaEvent_t*>(&t.spare), cudaEventDisableTiming);
       }},
      {object, "cudaEventDestroy(before)", [](Things& t) -> int { return cudaEventDestroy(t.before); }},
      {object, "cudaEventDestroy(inside)", [](Things& t) -> int { return cudaEventDestroy(t.inside); }},
      {object, "cudaStreamAttachMemAsync(captured)",
       [](Things& t) -> int { return cudaStreamAttachMemAsync(t.captured, t.spare, 0, cudaMemAttachSingle); },
       [](Things& t) -> int { return cudaMallocManaged(&t.spare, kBlock); }},
      {object, "cuStreamWriteValue32(captured)",
       [](Things& t) -> int {
         return cuStreamWriteValue32(t.captured, reinterpret_cast<CUdeviceptr>(t.device), 1, 0);
       }},
      {setting, "cudaSetDevice", [](Things&) -> int { return cudaSetDevice(0); }},
      {setting, "cudaDeviceSetLimit(malloc heap)",
       [](Things&) -> int { return cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20); }},
      {setting, "cudaDeviceSetLimit(printf)",
       [](Things&) -> int { return cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 2 << 20); }},
      {setting, "cudaDeviceSetCacheConfig",
       [](Things&) -> int { return cudaDeviceSetCacheConfig(cudaFuncCachePreferShared); }},
      {setting, "cudaIpcGetMemHandle",
       [](Things& t) -> int {
         cudaIpcMemHandle_t handle;
         return cudaIpcGetMemHandle(&handle, t.device);
       }},
      {setting, "cudaProfilerStart", [](Things&) -> int { return cudaProfilerStart(); }},
      {query, "cudaPointerGetAttributes",
       [](Things& t) -> int {
         cudaPointerAttributes attributes;
         return cudaPointerGetAttributes(&attributes, t.device);
       }},
      {query, "cuPointerGetAttribute",
       [](Things& t) -> int {
         CUmemorytype type;
         return cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                      reinterpret_cast<CUdeviceptr>(t.device));
       }},
      {query, "cudaGetDeviceProperties",
       [](Things&) -> int {
         cudaDeviceProp properties;
         return cudaGetDeviceProperties(&properties, 0);
       }},
      {query, "cudaDeviceGetAttribute",
       [](Things&) -> int {
         int value = 0;
         return cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0);
       }},
      {query, "cudaGetLastError", [](Things&) -> int { return cudaGetLastError(); }},
      {query, "cuStreamGetId(captured)",
       [](Things& t) -> int {
         unsigned long long id = 0;
         return cuStreamGetId(t.captured, &id);
       }},
      {query, "cudaStreamGetPriority(captured)",
       [](Things& t) -> int {
         int priority = 0;
         return cudaStreamGetPriority(t.captured, &priority);
       }},
  };
}

}  // namespace legality
