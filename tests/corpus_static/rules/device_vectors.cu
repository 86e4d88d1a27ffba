// local-scratch: thrust's containers of device memory, and library owners with a deleter of their own.
#include <capgate/capgate.h>
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <thrust/device_vector.h>

#include <memory>

__global__ void kernel(const float* p);

CAPGATE_REGION void by_data(cudaStream_t s) {
  thrust::device_vector<float> v(4);  // EXPECT: device-alloc
  kernel<<<1, 1, 0, s>>>(thrust::raw_pointer_cast(v.data()));  // EXPECT: local-scratch
}
CAPGATE_REGION void by_element(cudaStream_t s) {
  thrust::device_vector<float> v(4);  // EXPECT: device-alloc
  kernel<<<1, 1, 0, s>>>(thrust::raw_pointer_cast(&v[0]));  // EXPECT: local-scratch
}
CAPGATE_REGION void by_get(cudaStream_t s) {
  thrust::device_vector<float> v(4);  // EXPECT: device-alloc
  float* p = v.data().get();
  kernel<<<1, 1, 0, s>>>(p + 1);  // EXPECT: local-scratch
}
CAPGATE_REGION void filled(cudaStream_t s) {
  thrust::device_vector<float> v(4);  // EXPECT: device-alloc
  cudaMemsetAsync(thrust::raw_pointer_cast(v.data()), 0, 16, s);  // EXPECT: local-scratch
}
CAPGATE_REGION void copied(const float* x, cudaStream_t s) {
  thrust::device_vector<float> v(4);  // EXPECT: device-alloc
  cudaMemcpyAsync(thrust::raw_pointer_cast(v.data()), x, 16, cudaMemcpyDeviceToDevice, s);  // EXPECT: local-scratch
}
CAPGATE_REGION void multiplied(cublasHandle_t h, const float* x, float* y) {
  thrust::device_vector<float> v(4);  // EXPECT: device-alloc
  cublasSgemv(h, CUBLAS_OP_N, 2, 2, y, x, 2, thrust::raw_pointer_cast(v.data()), 1, y, y, 1);  // EXPECT: local-scratch
}
static void lent(thrust::device_vector<float>& v, cudaStream_t s) {
  kernel<<<1, 1, 0, s>>>(thrust::raw_pointer_cast(v.data()));  // EXPECT: local-scratch
}
CAPGATE_REGION void by_reference(cudaStream_t s) {
  thrust::device_vector<float> v(4);  // EXPECT: device-alloc
  lent(v, s);
}
static void deeper(cudaStream_t s) {
  thrust::device_vector<float> v(4);  // EXPECT: device-alloc
  kernel<<<1, 1, 0, s>>>(thrust::raw_pointer_cast(v.data()));  // EXPECT: local-scratch
}
void captured(cudaStream_t s) {
  cudaGraph_t g;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  deeper(s);
  cudaStreamEndCapture(s, &g);
}

class Layer {
 public:
  CAPGATE_REGION void forward(cudaStream_t s) {
    kernel<<<1, 1, 0, s>>>(thrust::raw_pointer_cast(v_.data()));  // CLEAN: local-scratch, a member
  }

 private:
  thrust::device_vector<float> v_;
};
void use(Layer& layer, cudaStream_t s) { layer.forward(s); }

static void borrowed(const thrust::device_vector<float>& v, cudaStream_t s) {
  kernel<<<1, 1, 0, s>>>(thrust::raw_pointer_cast(v.data()));  // CLEAN: local-scratch, its owner lives on
}
// Made before the capture, they live on in it.
void around(cublasHandle_t h, const float* x, float* y, cudaStream_t s) {
  thrust::device_vector<float> v(4);  // CLEAN: device-alloc
  thrust::device_vector<float> w(4);  // CLEAN: device-alloc
  cudaGraph_t g;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  kernel<<<1, 1, 0, s>>>(thrust::raw_pointer_cast(&v[0]));                                  // CLEAN: local-scratch
  cudaMemsetAsync(thrust::raw_pointer_cast(v.data()), 0, 16, s);                            // CLEAN: local-scratch
  cudaMemcpyAsync(thrust::raw_pointer_cast(w.data()), x, 16, cudaMemcpyDeviceToDevice, s);  // CLEAN: local-scratch
  cublasSgemv(h, CUBLAS_OP_N, 2, 2, y, x, 2, v.data().get(), 1, y, y, 1);                   // CLEAN: local-scratch
  cudaStreamEndCapture(s, &g);
}
void outside(cudaStream_t s) {
  thrust::device_vector<float> v(4);  // CLEAN: device-alloc
  cudaGraph_t g;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  borrowed(v, s);
  cudaStreamEndCapture(s, &g);
}

// A pointer that gives its memory back to a pool.
struct Pool {
  void give(float* p) { last = p; }
  float* last = nullptr;
};
struct Back {
  Pool* pool;
  void operator()(float* p) const { pool->give(p); }
};
CAPGATE_REGION void pooled(Pool& pool, float* block, cudaStream_t s) {
  std::unique_ptr<float, Back> scratch(block, Back{&pool});
  kernel<<<1, 1, 0, s>>>(scratch.get());  // EXPECT: local-scratch:warning
}
