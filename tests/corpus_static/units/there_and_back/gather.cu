#include "runtime.h"

struct Gather : Kernel {
  void compute(const Runtime& runtime, cudaStream_t stream) const override {
    runtime.copy(nullptr, nullptr, 4);
    static_cast<const CudaRuntime&>(runtime).wait(stream);
  }
};

void shut_down(const CudaRuntime& runtime) {
  runtime.drain();
}

const Kernel* gather() {
  static Gather one;
  return &one;
}
