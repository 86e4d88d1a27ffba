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
  if (pinned[0]) act();
  CUresult r = cuMemcpyDtoHAsync(pinned + 8, d, 4, s);
  if (r != CUDA_SUCCESS) act();
}
