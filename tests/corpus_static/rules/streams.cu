// default-stream and host-node.
#include <capgate/capgate.h>
#include <cublas_v2.h>
#include <cuda_runtime.h>

__global__ void work(float* p);
void CUDART_CB note(void* data);

static void launch(float* p, cudaStream_t s = nullptr) {
  work<<<1, 1, 0, s>>>(p);  // EXPECT: default-stream
}

CAPGATE_REGION void launches(float* d, cudaStream_t s) {
  work<<<1, 1>>>(d);                          // EXPECT: default-stream
  work<<<1, 1, 0, 0>>>(d);                    // EXPECT: default-stream
  work<<<1, 1, 0, cudaStreamLegacy>>>(d);     // EXPECT: default-stream
  cudaMemsetAsync(d, 0, 4);                   // EXPECT: default-stream
  cudaMemcpyAsync(d, d + 1, 4, cudaMemcpyDeviceToDevice);  // EXPECT: default-stream
  launch(d);
  launch(d, s);  // CLEAN: default-stream
  cudaStream_t none = 0;
  work<<<2, 1, 0, none>>>(d);                 // EXPECT: default-stream
  work<<<3, 1, 0, s>>>(d);  // CLEAN: default-stream
  work<<<4, 1, 0, cudaStreamPerThread>>>(d);  // CLEAN: default-stream
}

void handles(const float* a, float* c, int n, cudaStream_t s) {
  const float one = 1, zero = 0;
  cublasHandle_t bare, given;
  cublasCreate(&bare);  // CLEAN: device-alloc
  cublasCreate(&given);  // CLEAN: device-alloc
  cublasSetStream(given, s);
  cudaGraph_t g;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  cublasSgemm(bare, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, a, n, &zero, c, n);  // EXPECT: default-stream
  cublasSgemm(given, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, a, n, &zero, c, n);  // CLEAN: default-stream
  cudaStreamEndCapture(s, &g);
}

CAPGATE_REGION void unknown_handle(cublasHandle_t h, const float* a, float* c, int n) {
  const float one = 1, zero = 0;
  cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, a, n, &zero, c, n);  // CLEAN: default-stream
}

void outside(float* d) {
  work<<<1, 1>>>(d);  // CLEAN: default-stream
  cudaMemsetAsync(d, 0, 4);  // CLEAN: default-stream
}

CAPGATE_REGION void callback(cudaStream_t s, int* counter) {
  cudaLaunchHostFunc(s, note, counter);  // EXPECT: host-node:warning
  int local = 0;
  cudaLaunchHostFunc(s, note, &local);   // EXPECT: host-node:warning, local-scratch
}

#define CHECK(call)                       \
  do {                                    \
    const cudaError_t e_ = (call);        \
    if (e_ != cudaSuccess) __builtin_trap(); \
  } while (0)

// Null at first, created afterwards.
void created_later(float* d) {
  cudaStream_t s = nullptr, side = 0;
  CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  cudaStreamCreate(&side);
  cudaGraph_t g = nullptr;
  CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  work<<<1, 1, 0, s>>>(d);  // CLEAN: default-stream
  work<<<1, 1, 0, side>>>(d);  // CLEAN: default-stream
  CHECK(cudaStreamEndCapture(s, &g));
}

class Owner {
 public:
  Owner() { cudaStreamCreate(&stream_); }
  void capture(float* d) {
    cudaGraph_t g;
    cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal);
    work<<<1, 1, 0, stream_>>>(d);  // CLEAN: default-stream
    cudaStreamEndCapture(stream_, &g);
  }

 private:
  cudaStream_t stream_ = nullptr;
};

void owned_stream(float* d) {
  Owner o;
  o.capture(d);
}

// The old callback is refused on a stream that captures; outside it is what it always was.
static void CUDART_CB notice(cudaStream_t, cudaError_t, void*) {}

CAPGATE_REGION void old_callback(cudaStream_t s, void* data) {
  cudaStreamAddCallback(s, notice, data, 0);  // EXPECT: host-node
}

void old_callback_outside(cudaStream_t s, void* data) {
  cudaStreamAddCallback(s, notice, data, 0);  // CLEAN: host-node
  cudaLaunchHostFunc(s, note, data);  // CLEAN: host-node
}
