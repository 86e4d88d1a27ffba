// device-alloc: memory of the device while a stream captures, and where the same calls are in order.
#include <capgate/capgate.h>
#include <cublas_v2.h>
#include <cuda.h>
#include <cuda_runtime.h>

#include <memory>
#include <vector>

__global__ void work(float* p);

CAPGATE_REGION void runtime(size_t bytes) {
  float *a, *b;
  size_t pitch;
  cudaPitchedPtr pitched;
  cudaMallocPitch(&a, &pitch, bytes, 2);                  // EXPECT: device-alloc
  cudaMalloc3D(&pitched, make_cudaExtent(bytes, 1, 1));   // EXPECT: device-alloc
  cudaMallocManaged(&b, bytes);                           // EXPECT: device-alloc
}
CAPGATE_REGION void driver(size_t bytes) {
  CUdeviceptr a, b;
  cuMemAlloc(&a, bytes);                                  // EXPECT: device-alloc
  cuMemAllocManaged(&b, bytes, CU_MEM_ATTACH_GLOBAL);     // EXPECT: device-alloc
  cuMemFree(a);                                           // EXPECT: device-alloc
}

// Nodes of the graph.
CAPGATE_REGION void in_the_graph(cudaMemPool_t pool, size_t bytes, cudaStream_t s) {
  float *a, *b;
  cudaMallocAsync(&a, bytes, s);                // CLEAN: device-alloc
  cudaMallocFromPoolAsync(&b, bytes, pool, s);  // CLEAN: device-alloc
  work<<<1, 1, 0, s>>>(a);
  work<<<1, 1, 0, s>>>(b);
  cudaFreeAsync(a, s);                          // CLEAN: device-alloc
  cudaFreeAsync(b, s);                          // CLEAN: device-alloc
}
CAPGATE_REGION void driver_in_the_graph(CUmemoryPool pool, size_t bytes, CUstream s) {
  CUdeviceptr a, b;
  cuMemAllocAsync(&a, bytes, s);                // CLEAN: device-alloc
  cuMemAllocFromPoolAsync(&b, bytes, pool, s);  // CLEAN: device-alloc
  cuMemFreeAsync(a, s);                         // CLEAN: device-alloc
  cuMemFreeAsync(b, s);                         // CLEAN: device-alloc
}

// The host's memory; names that only resemble.
struct Arena {
  float* cudaMalloc(size_t n) { return next += n; }
  void cudaFree(float*) {}
  float* next = nullptr;
};
CAPGATE_REGION void of_the_host(Arena& arena, size_t n) {
  auto one = std::make_unique<float[]>(n);  // CLEAN: device-alloc
  std::vector<float> list(n);               // CLEAN: device-alloc
  list.push_back(one[0]);                   // CLEAN: device-alloc
  float* p = new float[4];                  // CLEAN: device-alloc
  delete[] p;                               // CLEAN: device-alloc
  float* block = arena.cudaMalloc(n);       // CLEAN: device-alloc
  arena.cudaFree(block);                    // CLEAN: device-alloc
}

// Before the capture, after it, and in a constructor that runs before it.
class Layer {
 public:
  Layer() {
    cudaMalloc(&scratch_, 64);  // CLEAN: device-alloc
    cublasCreate(&handle_);     // CLEAN: device-alloc
  }
  ~Layer() {
    cudaFree(scratch_);         // CLEAN: device-alloc
  }
  void capture(cudaStream_t s) {
    cudaGraph_t g;
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    work<<<1, 1, 0, s>>>(scratch_);
    cudaStreamEndCapture(s, &g);
  }

 private:
  float* scratch_ = nullptr;
  cublasHandle_t handle_ = nullptr;
};
void layer(cudaStream_t s) {
  Layer made;
  made.capture(s);
}
void around_the_capture(cudaStream_t s, size_t bytes) {
  cudaGraph_t g;
  float *a, *b;
  cudaMalloc(&a, bytes);         // CLEAN: device-alloc
  cudaMallocManaged(&b, bytes);  // CLEAN: device-alloc
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  work<<<1, 1, 0, s>>>(a);
  cudaStreamEndCapture(s, &g);
  cudaFree(b);                   // CLEAN: device-alloc
}

// An allocation of the graph itself is a node, whoever adds it.
CAPGATE_REGION void by_hand(cudaGraph_t g) {
  cudaGraphNode_t n;
  cudaMemAllocNodeParams p = {};
  p.bytesize = 64;
  cudaGraphAddMemAllocNode(&n, g, nullptr, 0, &p);       // CLEAN: device-alloc
  cudaGraphAddMemFreeNode(&n, g, nullptr, 0, p.dptr);    // CLEAN: device-alloc
}
CAPGATE_REGION void asks(float* d, cudaStream_t s) {
  size_t idle, all;
  cudaMemGetInfo(&idle, &all);                           // CLEAN: device-alloc
  if (idle < all / 2) work<<<1, 1, 0, s>>>(d);           // CLEAN: host-branch
}
