// Batches of copies: arrays of pointers, arrays of operations.
#include <capgate/capgate.h>
#include <cuda_runtime.h>

void act() {}

CAPGATE_REGION void pointers(int* a, int* b, int* up, const int* d, const int* e, int* f, cudaStream_t s) {
  void* to[] = {a, b};
  const void* from[] = {d, e};
  size_t sizes[] = {4, 4}, first = 0;
  cudaMemcpyAttributes attributes = {};
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  cudaMemcpyBatchAsync(to, from, sizes, 2, &attributes, &first, 1, s);  // EXPECT: refused-call
  if (a[0]) act();                          // EXPECT: host-branch
  for (int i = 0; i < b[0]; ++i) act();     // EXPECT: device-sized
  b[0] = 3;
  if (b[0] > 3) act();  // CLEAN: host-branch
  if (sizes[0] > 4 || first) act();  // CLEAN: host-branch
  if (cudaMemcpyBatchAsync(to, from, sizes, 2, &attributes, &first, 1, s) != cudaSuccess) act();  // EXPECT: refused-call // CLEAN: host-branch
  if (up[0]) act();  // CLEAN: host-branch
}

// A batch that brings the next inputs to the device.
CAPGATE_REGION void inputs(int* f, cudaStream_t s) {
  int* pinned = nullptr;
  cudaMallocHost(&pinned, 64);  // EXPECT: host-alloc
  pinned[0] = 4;
  void* to[] = {f};
  const void* from[] = {pinned};
  size_t sizes[] = {4}, first = 0;
  cudaMemcpyAttributes attributes = {};
  cudaMemcpyBatchAsync(to, from, sizes, 1, &attributes, &first, 1, s);  // EXPECT: refused-call
  if (pinned[0] > 3) act();  // CLEAN: host-branch
}

CAPGATE_REGION void legacy(int* a, const int* d) {
  void* to[] = {a};
  const void* from[] = {d};
  size_t sizes[] = {4}, first = 0;
  cudaMemcpyAttributes attributes = {};
  cudaMemcpyBatchAsync(to, from, sizes, 1, &attributes, &first, 1, cudaStreamLegacy);  // EXPECT: refused-call, default-stream
}

CAPGATE_REGION void operations(int* a, int* b, int* up, int* d, cudaStream_t s) {
  cudaMemcpy3DBatchOp list[2] = {};
  for (cudaMemcpy3DBatchOp& one : list) {
    one.src.type = one.dst.type = cudaMemcpyOperandTypePointer;
    one.extent = {4, 1, 1};
  }
  list[0].src.op.ptr.ptr = d;
  list[0].dst.op.ptr.ptr = a;
  list[1].src.op.ptr.ptr = d + 64;
  list[1].dst.op.ptr.ptr = b;
  cudaMemcpy3DBatchAsync(2, list, 0, s);  // EXPECT: refused-call:warning
  if (a[0]) act();  // EXPECT: host-branch
  if (b[0]) act();  // EXPECT: host-branch
  if (up[0] || list[0].extent.width > 3) act();  // CLEAN: host-branch
}

void outside(int* a, const int* d, cudaStream_t s) {
  void* to[] = {a};
  const void* from[] = {d};
  size_t sizes[] = {4}, first = 0;
  cudaMemcpyAttributes attributes = {};
  cudaMemcpyBatchAsync(to, from, sizes, 1, &attributes, &first, 1, s);
  if (a[0]) act();  // CLEAN: host-branch
}
