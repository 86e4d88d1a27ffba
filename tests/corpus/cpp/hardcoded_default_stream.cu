// An attention wrapper passes 0 as its stream; the capturing stream is a blocking one, so CUDA refuses
// with 906.
// Public fault: huggingface/candle#3596.
// CORPUS-BUILD: static
#include "corpus.h"

struct Attention {
  [[maybe_unused]] cudaStream_t stream;

  void forward(int* x) {
#ifdef CLEAN
    add<<<1, 1, 0, stream>>>(x, 1);
#else
    add<<<1, 1, 0, 0>>>(x, 1);  // EXPECT: default-stream error forward
#endif
    const cudaError_t result = cudaGetLastError();
    if (result != cudaSuccess) std::printf("attention: %s\n", cudaGetErrorString(result));
  }
};

int main() {
  cudaStream_t stream = nullptr;
  CU(cudaStreamCreate(&stream));
  int* x = corpus::device_ints(1);
  Attention attention{stream};
  attention.forward(x);
  CU(cudaDeviceSynchronize());

  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  attention.forward(x);
  const cudaGraph_t graph = corpus::end_capture(stream);
  if (graph) corpus::replay(graph, stream, 3);
  return corpus::capture_dies(graph, corpus::read_one(x) == 4);
}
