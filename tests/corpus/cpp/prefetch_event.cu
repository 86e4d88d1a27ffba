// An offloader's prefetch event, recorded during warm-up, is waited for inside the capture.
// Public fault: sgl-project/sglang#29166.
#include "corpus.h"

struct Offloader {
  cudaStream_t copies;
  cudaEvent_t ready;

  void prefetch(int* weight) {
    add<<<1, 1, 0, copies>>>(weight, 1);
    CU(cudaEventRecord(ready, copies));
  }
  void wait(cudaStream_t stream) {
    const cudaError_t result = cudaStreamWaitEvent(stream, ready, 0);  // EXPECT: foreign-event error wait
    if (result != cudaSuccess) std::printf("waiting for the prefetch: %s\n", cudaGetErrorString(result));
  }
};

int main() {
  const cudaStream_t stream = corpus::new_stream();
  Offloader offloader{corpus::new_stream(), corpus::new_event()};
  int* weight = corpus::device_ints(1);
  int* x = corpus::device_ints(1);
  add<<<1, 1, 0, stream>>>(x, 1);
  offloader.prefetch(weight);

#ifdef CLEAN
  offloader.wait(stream);  // orders the stream, and so the capture's replays behind it
#endif
  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
#ifndef CLEAN
  offloader.wait(stream);
#endif
  add<<<1, 1, 0, stream>>>(x, 1);
  const cudaGraph_t graph = corpus::end_capture(stream);
  if (graph) corpus::replay(graph, stream, 3);
  CU(cudaDeviceSynchronize());
  return corpus::capture_dies(graph, corpus::read_one(x) == 4);
}
