// Device-to-host copies of the driver API.
#include <capgate/capgate.h>
#include <cuda.h>

void act() {}

CAPGATE_REGION void copies(CUdeviceptr d, int* pinned, CUstream s) {
  int a;
  cuMemcpyDtoH(&a, d, 4);  // EXPECT: sync-copy
  if (a) act();            // EXPECT: host-branch
  cuMemcpyDtoHAsync(pinned, d, 4, s);
  while (*pinned) act();  // EXPECT: host-branch
}

CAPGATE_REGION void two_dimensions(CUdeviceptr d, int* pinned, CUstream s) {
  CUDA_MEMCPY2D p = {};
  p.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  p.srcDevice = d;
  p.dstMemoryType = CU_MEMORYTYPE_HOST;
  p.dstHost = pinned;
  p.WidthInBytes = 4;
  p.Height = 1;
  cuMemcpy2DAsync(&p, s);
  if (pinned[0] == 7) act();  // EXPECT: host-branch
}

CAPGATE_REGION void only_up(CUdeviceptr d, int* pinned, CUstream s) {
  cuMemcpyHtoDAsync(d, pinned, 4, s);
  if (pinned[0]) act();  // CLEAN: host-branch
  CUresult r = cuMemcpyDtoHAsync(pinned + 8, d, 4, s);
  if (r != CUDA_SUCCESS) act();  // CLEAN: host-branch
}

CAPGATE_REGION void three_dimensions(CUdeviceptr d, int* pinned, int* up, CUstream s) {
  CUDA_MEMCPY3D p = {};
  p.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  p.srcDevice = d;
  p.dstMemoryType = CU_MEMORYTYPE_HOST;
  p.dstHost = pinned;
  p.WidthInBytes = 4;
  p.Height = p.Depth = 1;
  cuMemcpy3D(&p);             // EXPECT: sync-copy
  if (pinned[0] == 7) act();  // EXPECT: host-branch
  pinned[0] = 1;
  if (pinned[0] == 7) act();  // CLEAN: host-branch
  cuMemcpy3DAsync(&p, s);
  for (int i = 0; i < pinned[0]; ++i) act();  // EXPECT: device-sized
  CUDA_MEMCPY3D to = {};
  to.srcMemoryType = CU_MEMORYTYPE_HOST;
  to.srcHost = up;
  to.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  to.dstDevice = d;
  to.WidthInBytes = 4;
  to.Height = to.Depth = 1;
  cuMemcpy3DAsync(&to, s);
  if (up[0]) act();  // CLEAN: host-branch
  if (to.WidthInBytes > 3) act();  // CLEAN: host-branch
}

CAPGATE_REGION void between_contexts(CUdeviceptr d, int* pinned, CUstream s) {
  CUDA_MEMCPY3D_PEER p = {};
  p.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  p.srcDevice = d;
  p.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  p.dstDevice = d + 64;
  p.WidthInBytes = 4;
  cuMemcpy3DPeerAsync(&p, s);
  if (pinned[0]) act();  // CLEAN: host-branch
}

CAPGATE_REGION void batches(CUdeviceptr d, int* pinned, int* other, int* up, CUstream s) {
  CUdeviceptr to[2] = {reinterpret_cast<CUdeviceptr>(pinned), reinterpret_cast<CUdeviceptr>(other)};
  CUdeviceptr from[2] = {d, d + 64};
  size_t sizes[2] = {4, 4}, first = 0;
  CUmemcpyAttributes attributes = {};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  cuMemcpyBatchAsync(to, from, sizes, 2, &attributes, &first, 1, s);  // EXPECT: refused-call
  if (pinned[0]) act();  // EXPECT: host-branch
  if (other[1]) act();   // EXPECT: host-branch
  if (up[0] || sizes[0] > 2) act();  // CLEAN: host-branch
}
