#pragma once
#include <cuda_runtime.h>

struct Layer {
  virtual ~Layer() = default;
  virtual void run(cudaStream_t stream) = 0;
};

// No class here makes an object of it.
struct Half : Layer {
  void run(cudaStream_t stream) override {
    cudaStreamSynchronize(stream);  // EXPECT: host-sync
    rest(stream);
  }
  virtual void rest(cudaStream_t stream) = 0;
};

// Nor does any source.
struct Unused : Layer {
  void run(cudaStream_t stream) override {
    cudaStreamSynchronize(stream);  // CLEAN: host-sync, there is no object of such a class
    mode(stream);
  }
  virtual void mode(cudaStream_t stream) = 0;
};
