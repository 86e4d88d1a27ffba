// Device-to-host copies of the runtime API.
#include <capgate/capgate.h>
#include <cuda_runtime.h>

__device__ int symbol;
void act() {}

CAPGATE_REGION void sync_kinds(int* d, cudaStream_t s) {
  int a, b, c, e, f;
  cudaMemcpy(&a, d, 4, cudaMemcpyDeviceToHost);  // EXPECT: sync-copy
  if (a) act();                                  // EXPECT: host-branch
  cudaMemcpy(&b, d, 4, cudaMemcpyDefault);       // EXPECT: sync-copy
  if (b) act();                                  // EXPECT: host-branch
  cudaMemcpy2D(&c, 4, d, 4, 4, 1, cudaMemcpyDeviceToHost);  // EXPECT: sync-copy
  if (c > 2) act();                                         // EXPECT: host-branch
  cudaMemcpyFromSymbol(&e, symbol, 4);                      // EXPECT: sync-copy
  if (e == 1) act();                                        // EXPECT: host-branch
  cudaMemcpyFromSymbolAsync(&f, symbol, 4, 0, cudaMemcpyDeviceToHost, s);  // EXPECT: pageable-copy
  if (f != 1) act();                                                       // EXPECT: host-branch
}

CAPGATE_REGION void async_kinds(int* pinned, int* d, cudaStream_t s) {
  cudaMemcpyAsync(pinned, d, 4, cudaMemcpyDeviceToHost, s);
  if (*pinned) act();  // EXPECT: host-branch
  cudaMemcpy2DAsync(pinned + 1, 4, d, 4, 4, 1, cudaMemcpyDeviceToHost, s);
  if (pinned[1]) act();  // EXPECT: host-branch
}

CAPGATE_REGION void three_dimensions(int* pinned, cudaPitchedPtr d, cudaStream_t s) {
  cudaMemcpy3DParms p = {};
  p.srcPtr = d;
  p.dstPtr = make_cudaPitchedPtr(pinned, 4, 4, 1);
  p.extent = make_cudaExtent(4, 1, 1);
  p.kind = cudaMemcpyDeviceToHost;
  cudaMemcpy3DAsync(&p, s);
  if (pinned[0]) act();  // EXPECT: host-branch
}

CAPGATE_REGION void kind_from_a_wrapper_is_followed(int* pinned, int* d, int* other, cudaStream_t s);

static void move(void* to, const void* from, cudaMemcpyKind kind, cudaStream_t s) {
  cudaMemcpyAsync(to, from, 4, kind, s);
}

CAPGATE_REGION void kind_by_parameter(int* pinned, int* other, int* d, cudaStream_t s) {
  move(pinned, d, cudaMemcpyDeviceToHost, s);
  if (pinned[0]) act();  // EXPECT: host-branch
  move(d, other, cudaMemcpyHostToDevice, s);
  if (other[0]) act();  // CLEAN: host-branch
  if (d != nullptr) act();  // CLEAN: host-branch
}

// Not device values: the other directions, and the host's own copy.
CAPGATE_REGION void other_directions(int* pinned, int* d, int* d2, cudaStream_t s) {
  cudaMemcpyAsync(d, pinned, 4, cudaMemcpyHostToDevice, s);
  if (pinned[0]) act();  // CLEAN: host-branch
  cudaMemcpyAsync(d2, d, 4, cudaMemcpyDeviceToDevice, s);  // CLEAN: sync-copy
  if (pinned[0] > 3) act();  // CLEAN: host-branch
  cudaMemcpyPeerAsync(d2, 1, d, 0, 4, s);  // CLEAN: sync-copy
  if (pinned[0] > 4) act();  // CLEAN: host-branch
}

void outside_a_region(int* d) {
  int h;
  cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost);  // CLEAN: sync-copy
  if (h) act();  // CLEAN: host-branch
}
