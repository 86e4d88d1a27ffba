#pragma once
#include <cuda_runtime.h>

#include <functional>

// Begins and ends where its caller cannot see it.
class Capture {
 public:
  bool begin(cudaStream_t stream);
  bool end();

 private:
  cudaStream_t stream_ = nullptr;
  cudaGraph_t graph_ = nullptr;
};

// The same, as a guard.
class Scope {
 public:
  explicit Scope(cudaStream_t stream);
  ~Scope();

 private:
  cudaStream_t stream_;
};

class Runner {
 public:
  void set(std::function<void(cudaStream_t)> step) { step_ = std::move(step); }
  bool execute(cudaStream_t stream);

 private:
  std::function<void(cudaStream_t)> step_;
  Capture capture_;
};
