// A library's layout: what is declared here is made in kernels.cu, by explicit instantiation.
#pragma once

#include <cuda_runtime.h>

template <class T>
void scale(T* values, cudaStream_t stream);

template <class T, int kWays>
class Pool {
 public:
  explicit Pool(int size) : size_(size) {}
  void take(T* values, cudaStream_t stream);
  template <class U>
  void give(U* values, cudaStream_t stream);

 private:
  int size_;
};

template <class T>
struct Layer {
  virtual void eval(T* values, cudaStream_t stream) = 0;
  virtual ~Layer() = default;
};
template <class T>
Layer<T>* make_layer();

// Made by whoever includes it, here and there alike: one finding.
template <class T>
void both_use(T* values, cudaStream_t stream) {
  cudaMemsetAsync(values, 0, 4, stream);
  cudaStreamSynchronize(stream);  // EXPECT: host-sync
}
