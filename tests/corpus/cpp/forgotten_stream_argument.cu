// Of several launches one forgot its stream: it goes to the legacy default stream, runs once during the
// capture, and is not in the graph.
// Public faults: openvdb/fvdb-core#587, pytorch/pytorch#114048.
#include "corpus.h"

static void layer(int* hidden, int* residual, cudaStream_t stream) {
  add<<<1, 1, 0, stream>>>(hidden, 1);
  add<<<1, 1, 0, stream>>>(hidden, 1);
#ifdef CLEAN
  copy_value<<<1, 1, 0, stream>>>(residual, hidden);
#else
  copy_value<<<1, 1>>>(residual, hidden);  // EXPECT: default-stream error layer
#endif
  add<<<1, 1, 0, stream>>>(hidden, 1);
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* hidden = corpus::device_ints(1);
  int* residual = corpus::device_ints(1);
  layer(hidden, residual, stream);
  CU(cudaDeviceSynchronize());

  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  layer(hidden, residual, stream);
  const cudaGraph_t graph = corpus::end_capture(stream);
  if (!graph) return corpus::saw(false, "the capture died");
  corpus::replay(graph, stream, 3);
  const int copied = corpus::read_one(residual);
  return corpus::kClean ? corpus::saw(copied == 11, "the copy follows every replay")
                        : corpus::saw(copied != 11, "the copy stayed behind");
}
