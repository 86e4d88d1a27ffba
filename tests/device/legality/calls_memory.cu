// Allocations, frees, mappings and pools.
#include "cell.h"

namespace legality {
namespace {

int make_device(Things& t) {
  return cudaMalloc(&t.spare, kBlock);
}
int make_pinned(Things& t) {
  return cudaMallocHost(&t.spare, kBlock);
}
int make_ordered(Things& t) {
  if (const cudaError_t result = cudaMallocAsync(&t.spare, kBlock, t.other)) return result;
  return cudaStreamSynchronize(t.other);
}
int make_registered(Things& t) {
  return cudaHostRegister(t.pageable, kBlock, cudaHostRegisterDefault);
}
int make_array(Things& t) {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  return cudaMallocArray(reinterpret_cast<cudaArray_t*>(&t.spare), &format, 64, 64);
}
CUmemAllocationProp physical() {
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = 0;
  return properties;
}

}  // namespace

std::vector<Call> memory_calls() {
  const char* device = "device memory";
  const char* host = "pinned memory";
  const char* ordered = "stream-ordered memory";
  const char* mapping = "virtual memory";
  return {
      {device, "cudaMalloc", make_device},
      {device, "cudaFree(nullptr)", [](Things&) -> int { return cudaFree(nullptr); }},
      {device, "cudaFree", [](Things& t) -> int { return cudaFree(t.spare); }, make_device},
      {device, "cudaFree(stream-ordered)", [](Things& t) -> int { return cudaFree(t.spare); }, make_ordered},
      {device, "cuMemAlloc",
       [](Things&) -> int {
         CUdeviceptr block = 0;
         return cuMemAlloc(&block, kBlock);
       }},
      {device, "cuMemFree",
       [](Things& t) -> int { return cuMemFree(reinterpret_cast<CUdeviceptr>(t.spare)); }, make_device},
      {device, "cudaMallocManaged", [](Things& t) -> int { return cudaMallocManaged(&t.spare, kBlock); }},
      {device, "cudaMallocPitch",
       [](Things& t) -> int {
         size_t pitch = 0;
         return cudaMallocPitch(&t.spare, &pitch, 1000, 64);
       }},
      {device, "cudaMallocArray", make_array},
      {device, "cudaFreeArray",
       [](Things& t) -> int { return cudaFreeArray(static_cast<cudaArray_t>(t.spare)); }, make_array},
      {device, "cudaMemGetInfo",
       [](Things&) -> int {
         size_t free = 0, total = 0;
         return cudaMemGetInfo(&free, &total);
       }},
      {host, "cudaMallocHost", make_pinned},
      {host, "cudaHostAlloc",
       [](Things& t) -> int { return cudaHostAlloc(&t.spare, kBlock, cudaHostAllocMapped); }},
      {host, "cudaFreeHost", [](Things& t) -> int { return cudaFreeHost(t.spare); }, make_pinned},
      {host, "cudaHostRegister", make_registered},
      {host, "cudaHostUnregister", [](Things& t) -> int { return cudaHostUnregister(t.pageable); },
       make_registered},
      {host, "cuMemAllocHost", [](Things& t) -> int { return cuMemAllocHost(&t.spare, kBlock); }},
      {ordered, "cudaMallocAsync(captured)",
       [](Things& t) -> int { return cudaMallocAsync(&t.spare, kBlock, t.captured); }},
      {ordered, "cudaMallocAsync(captured), cudaFreeAsync(captured)",
       [](Things& t) -> int {
         if (const cudaError_t result = cudaMallocAsync(&t.spare, kBlock, t.captured)) return result;
         return cudaFreeAsync(t.spare, t.captured);
       }},
      {ordered, "cudaMallocAsync(other)",
       [](Things& t) -> int { return cudaMallocAsync(&t.spare, kBlock, t.other); }},
      {ordered, "cudaMallocAsync(legacy)",
       [](Things& t) -> int { return cudaMallocAsync(&t.spare, kBlock, cudaStreamLegacy); }},
      {ordered, "cudaFreeAsync(captured, eager block)",
       [](Things& t) -> int { return cudaFreeAsync(t.spare, t.captured); }, make_ordered},
      {ordered, "cudaFreeAsync(other, eager block)",
       [](Things& t) -> int { return cudaFreeAsync(t.spare, t.other); }, make_ordered},
      {ordered, "cudaMemPoolTrimTo",
       [](Things&) -> int {
         cudaMemPool_t pool = nullptr;
         if (const cudaError_t result = cudaDeviceGetDefaultMemPool(&pool, 0)) return result;
         return cudaMemPoolTrimTo(pool, 0);
       }},
      {ordered, "cudaDeviceGraphMemTrim", [](Things&) -> int { return cudaDeviceGraphMemTrim(0); }},
      {mapping, "cuMemAddressReserve",
       [](Things&) -> int {
         CUdeviceptr address = 0;
         return cuMemAddressReserve(&address, kBlock, 0, 0, 0);
       }},
      {mapping, "cuMemCreate",
       [](Things&) -> int {
         CUmemGenericAllocationHandle handle = 0;
         const CUmemAllocationProp properties = physical();
         return cuMemCreate(&handle, kBlock, &properties, 0);
       }},
      {mapping, "cuMemMap, cuMemSetAccess",
       [](Things& t) -> int {
         const CUdeviceptr address = reinterpret_cast<CUdeviceptr>(t.spare);
         const CUmemGenericAllocationHandle handle = reinterpret_cast<CUmemGenericAllocationHandle>(t.spare2);
         if (const CUresult result = cuMemMap(address, kBlock, 0, handle, 0)) return result;
         CUmemAccessDesc access = {};
         access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
         access.location.id = 0;
         access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
         return cuMemSetAccess(address, kBlock, &access, 1);
       },
       [](Things& t) -> int {
         CUdeviceptr address = 0;
         CUmemGenericAllocationHandle handle = 0;
         const CUmemAllocationProp properties = physical();
         if (const CUresult result = cuMemAddressReserve(&address, kBlock, 0, 0, 0)) return result;
         if (const CUresult result = cuMemCreate(&handle, kBlock, &properties, 0)) return result;
         t.spare = reinterpret_cast<void*>(address);
         t.spare2 = reinterpret_cast<void*>(handle);
         return 0;
       }},
  };
}

}  // namespace legality
