// Every copy that brings a value to the host, from memory and from arrays.
#include <capgate/capgate.h>
#include <cuda.h>
#include <cuda_runtime.h>

void act() {}

CAPGATE_REGION void from_arrays(int* h, cudaArray_t array, cudaStream_t s) {
  cudaMemcpyFromArray(&h[0], array, 0, 0, 4, cudaMemcpyDeviceToHost);  // EXPECT: sync-copy
  if (h[0]) act();                                                     // EXPECT: host-branch
  cudaMemcpy2DFromArray(&h[1], 4, array, 0, 0, 4, 1, cudaMemcpyDeviceToHost);  // EXPECT: sync-copy
  if (h[1]) act();                                                             // EXPECT: host-branch
  cudaMemcpyFromArrayAsync(&h[2], array, 0, 0, 4, cudaMemcpyDeviceToHost, s);  // CLEAN: sync-copy
  if (h[2]) act();  // EXPECT: host-branch
  cudaMemcpy2DFromArrayAsync(&h[3], 4, array, 0, 0, 4, 1, cudaMemcpyDeviceToHost, s);  // CLEAN: sync-copy
  if (h[3]) act();  // EXPECT: host-branch
}
CAPGATE_REGION void into_arrays(int* h, cudaArray_t array, cudaArray_t other, cudaStream_t s) {
  cudaMemcpyToArrayAsync(array, 0, 0, h, 4, cudaMemcpyHostToDevice, s);  // CLEAN: sync-copy
  if (h[0]) act();  // CLEAN: host-branch
  cudaMemcpy2DToArrayAsync(array, 0, 0, h, 4, 4, 1, cudaMemcpyHostToDevice, s);  // CLEAN: sync-copy
  if (h[1]) act();  // CLEAN: host-branch
  cudaMemcpyArrayToArray(array, 0, 0, other, 0, 0, 4, cudaMemcpyDeviceToDevice);  // EXPECT: sync-copy
  if (h[2]) act();  // CLEAN: host-branch
}

CAPGATE_REGION void three_dimensions(int* h, cudaPitchedPtr d, cudaStream_t s) {
  cudaMemcpy3DParms p = {};
  p.srcPtr = d;
  p.dstPtr = make_cudaPitchedPtr(h, 4, 4, 1);
  p.extent = make_cudaExtent(4, 1, 1);
  p.kind = cudaMemcpyDefault;
  cudaMemcpy3D(&p);  // EXPECT: sync-copy
  if (h[0]) act();   // EXPECT: host-branch
  h[0] = 3;
  if (h[0]) act();   // CLEAN: host-branch, overwritten by the host
  p.kind = cudaMemcpyHostToDevice;
  p.srcPtr = p.dstPtr;
  p.dstPtr = d;
  cudaMemcpy3DAsync(&p, s);  // CLEAN: sync-copy
  if (h[0]) act();   // CLEAN: host-branch, the other direction
}

CAPGATE_REGION void driver_defaults(int* h, int* g, CUdeviceptr d, CUstream s) {
  cuMemcpy(reinterpret_cast<CUdeviceptr>(h), d, 4);  // EXPECT: sync-copy
  if (h[0]) act();                                   // EXPECT: host-branch
  cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(g), d, 4, s);
  if (g[0]) act();  // EXPECT: host-branch
}
CAPGATE_REGION void driver_arrays(int* h, int* up, CUarray array, CUstream s) {
  cuMemcpyAtoH(&h[0], array, 0, 4);  // EXPECT: sync-copy
  if (h[0]) act();                   // EXPECT: host-branch
  cuMemcpyAtoHAsync(&h[1], array, 0, 4, s);
  if (h[1]) act();  // EXPECT: host-branch
  cuMemcpyHtoAAsync(array, 0, up, 4, s);
  if (up[0]) act();  // CLEAN: host-branch
  cuMemcpyHtoA(array, 0, up, 4);     // EXPECT: sync-copy
  if (up[1]) act();  // CLEAN: host-branch
}
CAPGATE_REGION void driver_planes(int* h, int* g, int* up, CUdeviceptr d) {
  CUDA_MEMCPY2D p = {};
  p.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  p.srcDevice = d;
  p.dstMemoryType = CU_MEMORYTYPE_HOST;
  p.dstHost = h;
  p.WidthInBytes = 4;
  p.Height = 1;
  cuMemcpy2D(&p);   // EXPECT: sync-copy
  if (h[0]) act();  // EXPECT: host-branch
  p.dstHost = g;
  cuMemcpy2DUnaligned(&p);  // EXPECT: sync-copy
  if (g[0]) act();          // EXPECT: host-branch
  CUDA_MEMCPY2D back = {};
  back.srcMemoryType = CU_MEMORYTYPE_HOST;
  back.srcHost = up;
  back.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  back.dstDevice = d;
  cuMemcpy2DUnaligned(&back);  // EXPECT: sync-copy
  if (up[0]) act();            // CLEAN: host-branch
}
CAPGATE_REGION void driver_peers(int* h, int* g, CUdeviceptr d, CUstream s) {
  CUDA_MEMCPY3D_PEER p = {};
  p.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  p.srcDevice = d;
  p.dstMemoryType = CU_MEMORYTYPE_HOST;
  p.dstHost = h;
  p.WidthInBytes = 4;
  cuMemcpy3DPeer(&p);  // EXPECT: sync-copy
  if (h[0]) act();     // EXPECT: host-branch
  p.dstHost = g;
  cuMemcpy3DPeerAsync(&p, s);
  if (g[0]) act();     // EXPECT: host-branch
}
CAPGATE_REGION void driver_batches(int* h, int* up, CUdeviceptr d, CUstream s) {
  CUDA_MEMCPY3D_BATCH_OP list[1] = {};
  list[0].src.type = list[0].dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
  list[0].src.op.ptr.ptr = d;
  list[0].dst.op.ptr.ptr = reinterpret_cast<CUdeviceptr>(h);
  list[0].extent = {4, 1, 1};
  cuMemcpy3DBatchAsync(1, list, 0, s);  // EXPECT: refused-call:warning
  if (h[0]) act();   // EXPECT: host-branch
  if (up[0]) act();  // CLEAN: host-branch
}
CAPGATE_REGION void peers(int* h, cudaPitchedPtr d, cudaStream_t s) {
  cudaMemcpy3DPeerParms p = {};
  p.srcPtr = d;
  p.dstPtr = d;
  p.extent = make_cudaExtent(4, 1, 1);
  cudaMemcpy3DPeer(&p);  // EXPECT: sync-copy
  cudaMemcpy3DPeerAsync(&p, s);  // CLEAN: sync-copy
  if (h[0]) act();       // CLEAN: host-branch, between two devices
}
void outside(int* h, cudaArray_t array) {
  cudaMemcpyFromArray(h, array, 0, 0, 4, cudaMemcpyDeviceToHost);  // CLEAN: sync-copy
  if (h[0]) act();                                                 // CLEAN: host-branch
}
