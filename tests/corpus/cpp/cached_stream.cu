// A launcher keeps the stream of its first call for ever: during the capture it launches on the warm-up
// stream, and the graph stays empty. CUDA says nothing.
// Public fault: pytorch/helion#2817.
#include "corpus.h"

static void launch(int* x, cudaStream_t current) {
#ifdef CLEAN
  const cudaStream_t stream = current;
#else
  static const cudaStream_t stream = current;
#endif
  add<<<1, 1, 0, stream>>>(x, 1);  // EXPECT: empty-graph error launch
}

int main() {
  const cudaStream_t warm = corpus::new_stream(), stream = corpus::new_stream();
  int* x = corpus::device_ints(1);
  launch(x, warm);
  CU(cudaStreamSynchronize(warm));

  cudaGraph_t graph = nullptr;
  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  launch(x, stream);
  CU(cudaStreamEndCapture(stream, &graph));
  CU(cudaStreamSynchronize(warm));
  corpus::replay(graph, stream, 3);
  const int sum = corpus::read_one(x);
  return corpus::kClean ? corpus::saw(sum == 4, "every replay counted")
                        : corpus::saw(sum == 2, "three replays of an empty graph did nothing");
}
