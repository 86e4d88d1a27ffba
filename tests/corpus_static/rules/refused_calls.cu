// refused-call: batched copies on a stream that captures.
#include <capgate/capgate.h>
#include <cuda.h>
#include <cuda_runtime.h>

#include <vector>

static void pointers(void** to, const void** from, size_t* bytes, cudaStream_t s) {
  size_t first = 0;
  cudaMemcpyAttributes attributes = {};
  cudaMemcpyBatchAsync(to, from, bytes, 2, &attributes, &first, 1, s);  // EXPECT: refused-call
}
static bool capturing(cudaStream_t s) {
  cudaStreamCaptureStatus status;
  cudaStreamIsCapturing(s, &status);
  return status == cudaStreamCaptureStatusActive;
}
static void either(void** to, const void** from, size_t* bytes, cudaStream_t s) {
  size_t first = 0;
  cudaMemcpyAttributes attributes = {};
  if (!capturing(s)) {
    cudaMemcpyBatchAsync(to, from, bytes, 2, &attributes, &first, 1, s);  // CLEAN: refused-call
    return;
  }
  for (int i = 0; i < 2; ++i) cudaMemcpyAsync(to[i], from[i], bytes[i], cudaMemcpyDefault, s);  // CLEAN: refused-call, one by one
}
static void operations(float* d, cudaStream_t s) {
  std::vector<float> v(4);
  cudaMemcpy3DBatchOp one = {};
  one.src.op.ptr.ptr = v.data();
  one.dst.op.ptr.ptr = d;
  cudaMemcpy3DBatchAsync(1, &one, 0, s);  // EXPECT: refused-call:warning
}
static void of_the_driver(CUdeviceptr* to, CUdeviceptr* from, size_t* bytes, CUstream s) {
  size_t first = 0;
  CUmemcpyAttributes attributes = {};
  cuMemcpyBatchAsync(to, from, bytes, 1, &attributes, &first, 1, s);  // EXPECT: refused-call
  CUDA_MEMCPY3D_BATCH_OP one = {};
  cuMemcpy3DBatchAsync(1, &one, 0, s);  // EXPECT: refused-call:warning
}
void captured(void** to, const void** from, size_t* bytes, float* d, CUdeviceptr* a, CUdeviceptr* b, cudaStream_t s) {
  cudaGraph_t g;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  pointers(to, from, bytes, s);
  either(to, from, bytes, s);
  operations(d, s);
  of_the_driver(a, b, bytes, s);
  cudaStreamEndCapture(s, &g);
}
void outside(void** to, const void** from, size_t* bytes, cudaStream_t s) {
  size_t first = 0;
  cudaMemcpyAttributes attributes = {};
  cudaMemcpyBatchAsync(to, from, bytes, 2, &attributes, &first, 1, s);  // CLEAN: refused-call
  cudaMemcpyBatchAsync(to, from, bytes, 2, &attributes, &first, 1, s);  // CLEAN: refused-call
}
// Behind a test of the capture, and before one.
static void of_each_kind(void** to, const void** from, CUdeviceptr* a, CUdeviceptr* b, size_t* bytes, cudaStream_t s) {
  size_t first = 0;
  cudaMemcpyAttributes attributes = {};
  CUmemcpyAttributes of_the_driver = {};
  cudaMemcpy3DBatchOp one = {};
  CUDA_MEMCPY3D_BATCH_OP other = {};
  if (capturing(s)) return;
  cudaMemcpyBatchAsync(to, from, bytes, 2, &attributes, &first, 1, s);        // CLEAN: refused-call
  cudaMemcpy3DBatchAsync(1, &one, 0, s);                                      // CLEAN: refused-call
  cuMemcpyBatchAsync(a, b, bytes, 1, &of_the_driver, &first, 1, s);           // CLEAN: refused-call
  cuMemcpy3DBatchAsync(1, &other, 0, s);                                      // CLEAN: refused-call
}
void before_and_in_a_capture(void** to, const void** from, CUdeviceptr* a, CUdeviceptr* b, size_t* bytes, cudaStream_t s) {
  cudaGraph_t g;
  cudaMemcpy3DBatchOp one = {};
  CUDA_MEMCPY3D_BATCH_OP other = {};
  cudaMemcpy3DBatchAsync(1, &one, 0, s);  // CLEAN: refused-call
  cuMemcpy3DBatchAsync(1, &other, 0, s);  // CLEAN: refused-call
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  of_each_kind(to, from, a, b, bytes, s);
  cudaMemcpyAsync(to[0], from[0], bytes[0], cudaMemcpyDefault, s);  // CLEAN: refused-call, pageable-copy
  cudaStreamEndCapture(s, &g);
}
