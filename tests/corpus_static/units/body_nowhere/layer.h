#pragma once
#include <cuda_runtime.h>

void elsewhere(cudaStream_t stream);
void in_this_project(cudaStream_t stream);
int host_arithmetic(int rows);

struct Layer {
  explicit Layer(int rows);
  Layer(const Layer&) = default;
  ~Layer();
  void forward(cudaStream_t stream);
  int rows;
};

struct Backend {
  virtual ~Backend() = default;
  virtual void run(cudaStream_t stream) = 0;
};

struct Ops {
  void (*work)(cudaStream_t);
};
