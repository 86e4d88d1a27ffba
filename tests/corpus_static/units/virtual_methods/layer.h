#pragma once
#include <cuda_runtime.h>

struct Layer {
  virtual ~Layer() = default;
  virtual void forward(float* x, cudaStream_t s) = 0;
  virtual const char* name() const { return "layer"; }
};
