#include "kernels.h"

template <class T>
__global__ void times_two(T* values) {
  values[threadIdx.x] *= 2;
}

template <class T>
void scale(T* values, cudaStream_t stream) {
  times_two<<<1, 32, 0, stream>>>(values);
  cudaStreamSynchronize(stream);  // EXPECT: host-sync
}
template void scale<float>(float*, cudaStream_t);
template void scale<int>(int*, cudaStream_t);

template <class T, int kWays>
void Pool<T, kWays>::take(T* values, cudaStream_t stream) {
  if constexpr (kWays == 1)
    cudaFree(values);  // CLEAN: device-alloc, the other arm is taken
  else
    cudaDeviceSynchronize();  // EXPECT: host-sync
}
template <class T, int kWays>
template <class U>
void Pool<T, kWays>::give(U* values, cudaStream_t stream) {
  U host[4];
  cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost);  // EXPECT: sync-copy
}
template class Pool<float, 2>;
template void Pool<float, 2>::give<int>(int*, cudaStream_t);

template <class T>
struct Dense : Layer<T> {
  void eval(T* values, cudaStream_t stream) override {
    cudaStreamSynchronize(stream);  // EXPECT: host-sync
  }
};
template <class T>
Layer<T>* make_layer() {
  return new Dense<T>;
}
template Layer<float>* make_layer<float>();

void also(float* values, cudaStream_t stream) {
  both_use(values, stream);
}
