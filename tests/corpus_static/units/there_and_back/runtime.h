#pragma once
#include <cuda_runtime.h>

struct Runtime {
  virtual ~Runtime() = default;
  virtual void copy(void* to, const void* from, size_t bytes) const = 0;
};

struct CudaRuntime : Runtime {
  void copy(void* to, const void* from, size_t bytes) const override;
  void wait(cudaStream_t stream) const;
  void upload(void* to, const void* from, size_t bytes) const;
  void drain() const;
};

struct Kernel {
  virtual ~Kernel() = default;
  virtual void compute(const Runtime& runtime, cudaStream_t stream) const = 0;
};
