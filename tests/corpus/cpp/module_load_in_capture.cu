// A kernel's module is loaded when the kernel is first wanted, and that is inside the capture.
// Public faults: vllm-project/vllm#36587, jax-ml/jax#37094.
// CORPUS-BUILD: driver
#include <cuda.h>

#include "corpus.h"

static const char kModule[] = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry bump(.param .u64 bump_x) {
  .reg .b64 %rd<3>;
  .reg .b32 %r<3>;
  ld.param.u64 %rd1, [bump_x];
  cvta.to.global.u64 %rd2, %rd1;
  ld.global.u32 %r1, [%rd2];
  add.u32 %r2, %r1, 1;
  st.global.u32 [%rd2], %r2;
  ret;
}
)";

class Kernel {
 public:
  void launch(int* x, CUstream stream) {
    if (!function_) load();
    if (!function_) return;
    void* arguments[] = {&x};
    cuLaunchKernel(function_, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr);
  }
  void load() {
    CUmodule module = nullptr;
    const CUresult result = cuModuleLoadData(&module, kModule);  // EXPECT: lazy-load error load
    if (result == CUDA_SUCCESS) cuModuleGetFunction(&function_, module, "bump");
    if (result != CUDA_SUCCESS) std::printf("loading the module: %d\n", static_cast<int>(result));
  }

 private:
  CUfunction function_ = nullptr;
};

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* x = corpus::device_ints(1);
  Kernel bump;
#ifdef CLEAN
  bump.load();
#endif
  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  bump.launch(x, stream);
  const cudaGraph_t graph = corpus::end_capture(stream);
  if (graph) corpus::replay(graph, stream, 3);
  return corpus::capture_dies(graph, corpus::read_one(x) == 3);
}
