// host-alloc: pinned memory that is allocated, freed or registered while a stream captures.
#include <capgate/capgate.h>
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdlib>
#include <memory>
#include <vector>

CAPGATE_REGION void runtime(float* heap, size_t bytes) {
  float *a, *b;
  cudaMallocHost(&a, bytes);                        // EXPECT: host-alloc
  cudaHostAlloc(&b, bytes, cudaHostAllocMapped);    // EXPECT: host-alloc
  cudaHostRegister(heap, bytes, cudaHostRegisterPortable);  // EXPECT: host-alloc
  cudaHostUnregister(heap);                         // EXPECT: host-alloc
  cudaFreeHost(b);                                  // EXPECT: host-alloc
}

CAPGATE_REGION void driver(float* heap, size_t bytes) {
  void *a, *b;
  cuMemAllocHost(&a, bytes);           // EXPECT: host-alloc
  cuMemHostAlloc(&b, bytes, 0);        // EXPECT: host-alloc
  cuMemHostRegister(heap, bytes, 0);   // EXPECT: host-alloc
  cuMemHostUnregister(heap);           // EXPECT: host-alloc
  cuMemFreeHost(a);                    // EXPECT: host-alloc
}

class Staging {
 public:
  explicit Staging(size_t bytes) { cudaMallocHost(&memory_, bytes); }  // EXPECT: host-alloc
  ~Staging() { cudaFreeHost(memory_); }                                // EXPECT: host-alloc
  float* get() { return memory_; }

 private:
  float* memory_ = nullptr;
};
CAPGATE_REGION void owned() {
  Staging staging(64);
  staging.get()[0] = 1;
}

void relaxed(cudaStream_t s, size_t bytes) {
  cudaGraph_t g;
  float* p;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed);
  cudaMallocHost(&p, bytes);  // EXPECT: host-alloc:warning
  cudaStreamEndCapture(s, &g);
}

// Once, before the capture, and after it.
class Layer {
 public:
  explicit Layer(size_t bytes) : list_(bytes) {
    cudaMallocHost(&pinned_, bytes);                        // CLEAN: host-alloc
    cudaHostAlloc(&flags_, bytes, cudaHostAllocDefault);    // CLEAN: host-alloc
    cudaHostRegister(list_.data(), bytes, 0);               // CLEAN: host-alloc
  }
  ~Layer() {
    cudaHostUnregister(list_.data());  // CLEAN: host-alloc
    cudaFreeHost(flags_);              // CLEAN: host-alloc
    cudaFreeHost(pinned_);             // CLEAN: host-alloc
  }
  void capture(cudaStream_t s, float* d) {
    cudaGraph_t g;
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    cudaMemcpyAsync(d, pinned_, 64, cudaMemcpyHostToDevice, s);  // CLEAN: pageable-copy, host-alloc
    cudaStreamEndCapture(s, &g);
  }

 private:
  float *pinned_ = nullptr, *flags_ = nullptr;
  std::vector<char> list_;
};
void layer(cudaStream_t s, float* d) {
  Layer made(64);
  made.capture(s, d);
}

// The host's own memory, and what only asks about pinned memory.
CAPGATE_REGION void of_the_host(float* pinned, size_t bytes) {
  void* heap = std::malloc(bytes);                       // CLEAN: host-alloc
  auto owned = std::make_unique<float[]>(16);            // CLEAN: host-alloc
  std::vector<float> list(16);                           // CLEAN: host-alloc
  unsigned flags = 0;
  cudaHostGetFlags(&flags, pinned);                      // CLEAN: host-alloc
  float* device;
  cudaHostGetDevicePointer(&device, pinned, 0);          // CLEAN: host-alloc
  list[0] = owned[0];
  std::free(heap);                                       // CLEAN: host-alloc
}

// A thread in relaxed mode may, and so may code that no capture reaches.
CAPGATE_REGION void relaxed_thread(size_t bytes) {
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  float* p;
  cudaThreadExchangeStreamCaptureMode(&mode);
  cudaMallocHost(&p, bytes);  // CLEAN: host-alloc
  cudaFreeHost(p);            // CLEAN: host-alloc
  cudaThreadExchangeStreamCaptureMode(&mode);
}
CAPGATE_REGION void not_captured(cudaStream_t s, size_t bytes) {
  cudaStreamCaptureStatus status;
  cudaStreamIsCapturing(s, &status);
  float* p = nullptr;
  if (status == cudaStreamCaptureStatusNone) cudaMallocHost(&p, bytes);  // CLEAN: host-alloc
}
void driver_outside(float* heap, size_t bytes) {
  void* a;
  cuMemAllocHost(&a, bytes);          // CLEAN: host-alloc
  cuMemHostRegister(heap, bytes, 0);  // CLEAN: host-alloc
  cuMemHostUnregister(heap);          // CLEAN: host-alloc
  cuMemFreeHost(a);                   // CLEAN: host-alloc
}
