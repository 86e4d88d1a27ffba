// A library that is neither the project's nor known.
#pragma once
#pragma GCC system_header
#include <cuda_runtime.h>

namespace engine {
struct Context {
  virtual ~Context() = default;
  virtual bool enqueue(cudaStream_t) = 0;  // EXPECT: not-looked-into:note
  virtual bool resize(int) = 0;
};
bool ready(const Context&);  // EXPECT: not-looked-into:note
void describe(const Context&);
void forget(cudaStream_t);
}  // namespace engine
