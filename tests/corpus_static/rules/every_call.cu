// The rest of the calls that a rule judges, each in a region and each outside of one.
#include <capgate/capgate.h>
#include <cublas_v2.h>
#include <cuda.h>
#include <cuda_runtime.h>

CAPGATE_REGION void waits(CUstream s, CUevent e, cudaStream_t r, cudaEvent_t f) {
  cuStreamSynchronize(s);   // EXPECT: host-sync
  cuCtxSynchronize();       // EXPECT: host-sync
  cuEventSynchronize(e);    // EXPECT: host-sync
  cudaStreamSynchronize(r);  // EXPECT: host-sync
  cudaEventSynchronize(f);   // EXPECT: host-sync
}
CAPGATE_REGION void sets(CUdeviceptr d) {
  cuMemsetD16(d, 0, 4);            // EXPECT: sync-copy
  cuMemsetD2D8(d, 64, 0, 4, 2);    // EXPECT: sync-copy
  cuMemsetD2D16(d, 64, 0, 4, 2);   // EXPECT: sync-copy
  cuMemsetD2D32(d, 64, 0, 4, 2);   // EXPECT: sync-copy
}
CAPGATE_REGION void driver_memory(CUdeviceptr d, const CUmemAllocationProp* properties, const CUDA_ARRAY_DESCRIPTOR* plane,
                                  const CUDA_ARRAY3D_DESCRIPTOR* volume) {
  CUdeviceptr pitched;
  size_t pitch;
  CUmemGenericAllocationHandle handle;
  CUarray a, b;
  cuMemAllocPitch(&pitched, &pitch, 64, 2, 4);  // EXPECT: device-alloc
  cuMemCreate(&handle, 64, properties, 0);      // EXPECT: device-alloc
  cuMemMap(d, 64, 0, handle, 0);                // EXPECT: device-alloc
  cuMemUnmap(d, 64);                            // EXPECT: device-alloc
  cuMemRelease(handle);                         // EXPECT: device-alloc
  cuArrayCreate(&a, plane);                     // EXPECT: device-alloc
  cuArray3DCreate(&b, volume);                  // EXPECT: device-alloc
  cuArrayDestroy(a);                            // EXPECT: device-alloc
}
CAPGATE_REGION void arrays(const cudaChannelFormatDesc* format) {
  cudaArray_t a, b;
  cudaMipmappedArray_t m;
  cudaMallocArray(&a, format, 4, 4);                                       // EXPECT: device-alloc
  cudaMalloc3DArray(&b, format, make_cudaExtent(4, 4, 4));                 // EXPECT: device-alloc
  cudaMallocMipmappedArray(&m, format, make_cudaExtent(4, 4, 4), 2);       // EXPECT: device-alloc
  cudaFreeArray(a);                                                        // EXPECT: device-alloc
  cudaFreeMipmappedArray(m);                                               // EXPECT: device-alloc
}
CAPGATE_REGION void handles() {
  cublasHandle_t handle;
  cublasCreate(&handle);  // EXPECT: device-alloc
}

void waits_outside(CUstream s, CUevent e) {
  cuStreamSynchronize(s);  // CLEAN: host-sync
  cuCtxSynchronize();      // CLEAN: host-sync
  cuEventSynchronize(e);   // CLEAN: host-sync
}
void sets_outside(CUdeviceptr d) {
  cuMemsetD16(d, 0, 4);           // CLEAN: sync-copy
  cuMemsetD2D8(d, 64, 0, 4, 2);   // CLEAN: sync-copy
  cuMemsetD2D16(d, 64, 0, 4, 2);  // CLEAN: sync-copy
  cuMemsetD2D32(d, 64, 0, 4, 2);  // CLEAN: sync-copy
}
CAPGATE_REGION void sets_on_a_stream(CUdeviceptr d, CUstream s) {
  cuMemsetD16Async(d, 0, 4, s);           // CLEAN: sync-copy
  cuMemsetD2D8Async(d, 64, 0, 4, 2, s);   // CLEAN: sync-copy
  cuMemsetD2D16Async(d, 64, 0, 4, 2, s);  // CLEAN: sync-copy
  cuMemsetD2D32Async(d, 64, 0, 4, 2, s);  // CLEAN: sync-copy
}
void memory_outside(CUdeviceptr d, const CUmemAllocationProp* properties, const CUDA_ARRAY_DESCRIPTOR* plane) {
  CUdeviceptr pitched;
  size_t pitch;
  CUmemGenericAllocationHandle handle;
  CUarray a;
  cuMemAllocPitch(&pitched, &pitch, 64, 2, 4);  // CLEAN: device-alloc
  cuMemCreate(&handle, 64, properties, 0);      // CLEAN: device-alloc
  cuMemMap(d, 64, 0, handle, 0);                // CLEAN: device-alloc
  cuMemUnmap(d, 64);                            // CLEAN: device-alloc
  cuMemRelease(handle);                         // CLEAN: device-alloc
  cuArrayCreate(&a, plane);                     // CLEAN: device-alloc
  cuArrayDestroy(a);                            // CLEAN: device-alloc
}
void arrays_outside(const cudaChannelFormatDesc* format) {
  cudaArray_t a, b;
  cudaMallocArray(&a, format, 4, 4);                        // CLEAN: device-alloc
  cudaMalloc3DArray(&b, format, make_cudaExtent(4, 4, 4));  // CLEAN: device-alloc
  cudaFreeArray(b);                                         // CLEAN: device-alloc
}
// What asks about memory, or only reserves an address.
CAPGATE_REGION void asks(CUdeviceptr d) {
  CUdeviceptr address;
  size_t pitch, bytes;
  cuMemGetAddressRange(&address, &bytes, d);             // CLEAN: device-alloc
  cuMemGetInfo(&bytes, &pitch);                          // CLEAN: device-alloc
  unsigned flags;
  cuMemHostGetFlags(&flags, nullptr);                    // CLEAN: host-alloc
}
