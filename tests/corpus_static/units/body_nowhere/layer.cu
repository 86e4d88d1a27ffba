#include "layer.h"

void in_this_project(cudaStream_t stream) {
  cudaMemsetAsync(nullptr, 0, 4, stream);
}
int host_arithmetic(int rows) {
  return rows * 2;
}
