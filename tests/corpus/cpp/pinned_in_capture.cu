// A staging block is pinned on first use, and the first use falls into the capture.
// Public fault: the class of pytorch/pytorch#161583: pinned memory around a capture.
// CORPUS-BUILD: driver
#include <cuda.h>

#include "corpus.h"

struct Staging {
  void* block = nullptr;

  void reserve() {
    if (block) return;
    const CUresult result = cuMemAllocHost(&block, 1 << 16);  // EXPECT: host-alloc error reserve
    if (result != CUDA_SUCCESS) std::printf("pinning: %d\n", static_cast<int>(result));
  }
};

static void step(Staging& staging, int* x, cudaStream_t stream) {
  staging.reserve();
  add<<<1, 1, 0, stream>>>(x, 1);
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* x = corpus::device_ints(1);
  Staging staging;
#ifdef CLEAN
  staging.reserve();
#endif
  add<<<1, 1, 0, stream>>>(x, 1);
  CU(cudaStreamSynchronize(stream));

  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  step(staging, x, stream);
  const cudaGraph_t graph = corpus::end_capture(stream);
  if (graph) corpus::replay(graph, stream, 3);
  return corpus::capture_dies(graph, corpus::read_one(x) == 4);
}
