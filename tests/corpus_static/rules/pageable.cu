// pageable-copy: whose memory the host operand of an asynchronous copy is.
#include <capgate/capgate.h>
#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/mman.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

struct Params {
  int rows, columns;
};
__constant__ Params constants;

CAPGATE_REGION void locals(float* d, int rows, cudaStream_t s) {
  std::array<float, 4> fixed = {};
  cudaMemcpyAsync(d, fixed.data(), 16, cudaMemcpyHostToDevice, s);             // EXPECT: pageable-copy
  std::string text = "prompt";
  cudaMemcpyAsync(d, text.c_str(), 4, cudaMemcpyHostToDevice, s);              // EXPECT: pageable-copy
  const Params params{rows, 4};
  cudaMemcpyAsync(d, &params, sizeof params, cudaMemcpyHostToDevice, s);       // EXPECT: pageable-copy
  cudaMemcpyToSymbolAsync(constants, &params, sizeof params, 0, cudaMemcpyHostToDevice, s);  // EXPECT: pageable-copy
  std::vector<std::vector<float>> lists(2, std::vector<float>(4));
  cudaMemcpyAsync(d, lists[1].data(), 16, cudaMemcpyHostToDevice, s);          // EXPECT: pageable-copy
  float rowwise[2][4] = {};
  cudaMemcpy2DAsync(d, 16, rowwise, 16, 16, 2, cudaMemcpyHostToDevice, s);     // EXPECT: pageable-copy
}
CAPGATE_REGION void driver(CUdeviceptr d, CUstream s) {
  float local[4] = {};
  cuMemcpyHtoDAsync(d, local, 16, s);  // EXPECT: pageable-copy
  cuMemcpyDtoHAsync(local, d, 16, s);  // EXPECT: pageable-copy
}
CAPGATE_REGION void by_new(float* d, cudaStream_t s) {
  float* made = new float[4]();
  cudaMemcpyAsync(d, made, 16, cudaMemcpyHostToDevice, s);  // EXPECT: pageable-copy
  delete[] made;
}
CAPGATE_REGION void of_a_file(float* d, int file, size_t bytes, cudaStream_t s) {
  void* weights = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
  cudaMemcpyAsync(d, weights, 64, cudaMemcpyHostToDevice, s);  // EXPECT: pageable-copy
}
void registered(float* d, int file, size_t bytes, cudaStream_t s) {
  void* weights = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, 0);
  if (weights == MAP_FAILED) return;
  cudaHostRegister(weights, bytes, cudaHostRegisterReadOnly);
  cudaGraph_t g;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  cudaMemcpyAsync(d, weights, 64, cudaMemcpyHostToDevice, s);  // CLEAN: pageable-copy
  cudaStreamEndCapture(s, &g);
}

// Pinned, and found again through what holds it.
struct Step {
  Step() {
    cudaMallocHost(&staging.host, 64);
    cuMemAllocHost(reinterpret_cast<void**>(&other), 64);
  }
  struct {
    float* host = nullptr;
  } staging;
  float* other = nullptr;
  void capture(float* d, cudaStream_t s) {
    cudaGraph_t g;
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    cudaMemcpyAsync(d, staging.host, 64, cudaMemcpyHostToDevice, s);      // CLEAN: pageable-copy
    cudaMemcpyAsync(d, staging.host + 8, 32, cudaMemcpyHostToDevice, s);  // CLEAN: pageable-copy
    cudaMemcpyAsync(staging.host, d, 64, cudaMemcpyDefault, s);           // CLEAN: pageable-copy
    cudaMemcpyAsync(d, other, 64, cudaMemcpyHostToDevice, s);             // CLEAN: pageable-copy
    cudaStreamEndCapture(s, &g);
  }
};
void capture(float* d, cudaStream_t s) {
  Step step;
  step.capture(d, s);
}

// The device's memory on both sides; a local that only holds the address.
CAPGATE_REGION void addresses(float* d, float* e, float* pinned, cudaStream_t s) {
  cudaMemcpyAsync(d, e, 16, cudaMemcpyDeviceToDevice, s);              // CLEAN: pageable-copy
  float* local = pinned;
  cudaMemcpyAsync(d, local, 16, cudaMemcpyHostToDevice, s);            // CLEAN: pageable-copy
  float* both[2] = {pinned, pinned + 8};
  cudaMemcpyAsync(d, both[1], 16, cudaMemcpyHostToDevice, s);          // CLEAN: pageable-copy
  std::vector<float*> list = {pinned};
  cudaMemcpyAsync(d, list.front(), 16, cudaMemcpyHostToDevice, s);     // CLEAN: pageable-copy
  const int four = 16;
  cudaMemcpyAsync(d, pinned, four, cudaMemcpyHostToDevice, s);         // CLEAN: pageable-copy
}
CAPGATE_REGION void not_captured(float* d, cudaStream_t s) {
  cudaStreamCaptureStatus status;
  cudaStreamIsCapturing(s, &status);
  float local[4] = {};
  if (status == cudaStreamCaptureStatusNone)
    cudaMemcpyAsync(d, local, 16, cudaMemcpyHostToDevice, s);  // CLEAN: pageable-copy
  if (status != cudaStreamCaptureStatusNone) return;
  cudaMemcpyAsync(d, local, 16, cudaMemcpyHostToDevice, s);    // CLEAN: pageable-copy
}
void before_and_after(float* d, cudaStream_t s) {
  cudaGraph_t g;
  std::vector<float> weights(16);
  cudaMemcpyAsync(d, weights.data(), 64, cudaMemcpyHostToDevice, s);  // CLEAN: pageable-copy
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  cudaMemsetAsync(d, 0, 64, s);  // CLEAN: pageable-copy
  cudaStreamEndCapture(s, &g);
  cudaMemcpyAsync(weights.data(), d, 64, cudaMemcpyDeviceToHost, s);  // CLEAN: pageable-copy
}
