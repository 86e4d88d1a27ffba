// default-stream: work that names no stream, and work that has one without naming it.
#include <capgate/capgate.h>
#include <cublas_v2.h>
#include <cuda.h>
#include <cuda_runtime.h>

__global__ void work(float* p);

CAPGATE_REGION void driver(CUfunction f, CUdeviceptr d, void** arguments) {
  cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr);           // EXPECT: default-stream
  cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, CU_STREAM_LEGACY, arguments, nullptr);  // EXPECT: default-stream
  cuMemsetD32Async(d, 0, 4, nullptr);                                             // EXPECT: default-stream
}
CAPGATE_REGION void driver_with_a_stream(CUfunction f, CUdeviceptr d, void** arguments, CUstream s) {
  cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, s, arguments, nullptr);                     // CLEAN: default-stream
  cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, CU_STREAM_PER_THREAD, arguments, nullptr);  // CLEAN: default-stream
  cuMemsetD32Async(d, 0, 4, s);                                                       // CLEAN: default-stream
}

// A stream that somebody else chose.
struct Context {
  cudaStream_t stream = nullptr;
  cudaStream_t streams[4] = {};
  cudaStream_t current() const { return stream; }
};
CAPGATE_REGION void of_a_context(const Context& context, float* d, int i) {
  work<<<1, 1, 0, context.stream>>>(d);      // CLEAN: default-stream
  work<<<1, 1, 0, context.current()>>>(d);   // CLEAN: default-stream
  work<<<1, 1, 0, context.streams[i]>>>(d);  // CLEAN: default-stream
}
CAPGATE_REGION void chosen(float* d, cudaStream_t s, cudaStream_t other, bool first) {
  cudaStream_t picked = nullptr;
  picked = first ? s : other;
  work<<<1, 1, 0, picked>>>(d);              // CLEAN: default-stream
  cudaStream_t forked = nullptr;
  cudaStreamCreateWithFlags(&forked, cudaStreamNonBlocking);
  work<<<1, 1, 0, forked>>>(d);              // CLEAN: default-stream
}
static void launch(float* d, cudaStream_t s = nullptr) {
  work<<<1, 1, 0, s>>>(d);  // CLEAN: default-stream, every caller of the region gives one
}
CAPGATE_REGION void given(float* d, cudaStream_t s) {
  launch(d, s);
}
void given_none_outside(float* d) {
  launch(d);
}
CAPGATE_REGION void by_configuration(float* d, cudaStream_t s) {
  cudaLaunchConfig_t config = {};
  config.gridDim = config.blockDim = dim3(1);
  config.stream = s;
  cudaLaunchKernelEx(&config, work, d);      // CLEAN: default-stream
  cudaMemsetAsync(d, 0, 4, s);               // CLEAN: default-stream
}
void handles(const float* a, float* c, int n, cudaStream_t s) {
  const float one = 1, zero = 0;
  cublasHandle_t handle = nullptr;
  cublasCreate(&handle);                     // CLEAN: device-alloc
  cublasSetStream(handle, s);
  cudaGraph_t g;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, a, n, &zero, c, n);  // CLEAN: default-stream
  cudaStreamEndCapture(s, &g);
}
// Legal on the legacy stream while another captures: nothing is queued.
CAPGATE_REGION void no_work(float* d, cudaStream_t s) {
  cudaPointerAttributes attributes;
  cudaPointerGetAttributes(&attributes, d);  // CLEAN: default-stream
  int blocks = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, work, 32, 0);  // CLEAN: default-stream
  work<<<1, 1, 0, s>>>(d);
}
CAPGATE_REGION void asked(float* d, cudaStream_t s) {
  cudaStreamCaptureStatus status;
  cudaStreamIsCapturing(s, &status);
  if (status == cudaStreamCaptureStatusNone) work<<<1, 1>>>(d);  // CLEAN: default-stream
}
void around_the_capture(float* d, cudaStream_t s) {
  cudaGraph_t g;
  work<<<1, 1>>>(d);  // CLEAN: default-stream
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  work<<<1, 1, 0, s>>>(d);
  cudaStreamEndCapture(s, &g);
  work<<<1, 1>>>(d);  // CLEAN: default-stream
}
