// The host waits for an event that the running capture has recorded, by the driver API and below two small
// helpers that the compiler folds into their caller.
// Public faults: NVIDIA/warp#556, #983.
// CORPUS-BUILD: driver tail-calls
#include <cuda.h>

#include "corpus.h"

[[maybe_unused]] static inline CUresult wait_on(CUevent event) {
  const CUresult result = cuEventSynchronize(event);  // EXPECT: host-sync error wait_on
  if (result != CUDA_SUCCESS) std::printf("waiting for the event: %d\n", static_cast<int>(result));
  return result;
}

[[maybe_unused]] static inline bool finished(CUevent event) {
  return wait_on(event) == CUDA_SUCCESS;
}

static void timed_step(int* x, CUevent event, CUstream stream) {
  add<<<1, 1, 0, stream>>>(x, 1);
  cuEventRecord(event, stream);
#ifndef CLEAN
  if (!finished(event)) std::printf("no time to report\n");
#endif
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  const cudaEvent_t event = corpus::new_event();
  int* x = corpus::device_ints(1);
  timed_step(x, event, stream);
  CU(cudaStreamSynchronize(stream));

  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  timed_step(x, event, stream);
  const cudaGraph_t graph = corpus::end_capture(stream);
  if (graph) corpus::replay(graph, stream, 3);
  return corpus::capture_dies(graph, corpus::read_one(x) == 4);
}
