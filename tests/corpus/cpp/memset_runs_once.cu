// A counter is cleared by the synchronous memset: it is cleared once, at once, and never again by a
// replay.
// Public fault: the class of NVIDIA/TensorRT#2888 and flashinfer-ai/flashinfer#4553: counters that must
// start from zero.
#include "corpus.h"

static void count_tokens(int* counter, cudaStream_t stream) {
#ifdef CLEAN
  CU(cudaMemsetAsync(counter, 0, sizeof(int), stream));
#else
  CU(cudaMemset(counter, 0, sizeof(int)));  // EXPECT: sync-copy error count_tokens
#endif
  add<<<1, 1, 0, stream>>>(counter, 1);
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* counter = corpus::device_ints(1);
  count_tokens(counter, stream);
  CU(cudaDeviceSynchronize());

  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  count_tokens(counter, stream);
  const cudaGraph_t graph = corpus::end_capture(stream);
  if (!graph) return corpus::saw(false, "the capture died");
  corpus::replay(graph, stream, 3);
  const int count = corpus::read_one(counter);
  return corpus::kClean ? corpus::saw(count == 1, "counted from zero each time")
                        : corpus::saw(count == 3, "the counter went on from the last replay");
}
