// What is first used inside a capture is loaded there: a module by the driver's interface, a kernel of the
// program's own by the runtime. CUDA lets both through, and the graph holds both kernels.
// CORPUS-BUILD: driver
#include <cuda.h>

#include "tests/corpus/cpp/corpus.h"

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
  bool launch(int* x, CUstream stream) {
    if (!function_ && !load()) return false;
    void* arguments[] = {&x};
    return cuLaunchKernel(function_, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr) == CUDA_SUCCESS;
  }

 private:
  bool load() {
    CUmodule module = nullptr;
    return cuModuleLoadData(&module, kModule) == CUDA_SUCCESS &&
           cuModuleGetFunction(&function_, module, "bump") == CUDA_SUCCESS;
  }

  CUfunction function_ = nullptr;
};

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* x = corpus::device_ints(1);
  Kernel bump;
  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  const bool launched = bump.launch(x, stream);
  add<<<1, 1, 0, stream>>>(x, 10);
  const cudaGraph_t graph = corpus::end_capture(stream);
  if (!graph || !launched) return corpus::saw(false, "loading inside the capture was let through");
  corpus::replay(graph, stream, 3);
  return corpus::saw(corpus::read_one(x) == 33, "loaded inside the capture, and replayed");
}
