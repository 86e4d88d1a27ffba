// A watchdog asks after its own event while another thread captures in global mode.
// Public faults: pytorch/pytorch#104487, #104555, #105182.
#include <thread>

#include "corpus.h"

static void watchdog(cudaEvent_t event) {
#ifdef CLEAN
  cudaStreamCaptureMode mode = cudaStreamCaptureModeThreadLocal;
  CU(cudaThreadExchangeStreamCaptureMode(&mode));
  CU(cudaEventQuery(event));
  CU(cudaThreadExchangeStreamCaptureMode(&mode));
#else
  const cudaError_t state = cudaEventQuery(event);  // EXPECT: cross-thread-call error watchdog
  std::printf("the watchdog's query: %s\n", cudaGetErrorString(state));
#endif
}

int main() {
  const cudaStream_t stream = corpus::new_stream(), collective = corpus::new_stream();
  const cudaEvent_t event = corpus::new_event();
  int* x = corpus::device_ints(2);
  add<<<1, 1, 0, collective>>>(x + 1, 1);
  CU(cudaEventRecord(event, collective));
  CU(cudaStreamSynchronize(collective));

  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  add<<<1, 1, 0, stream>>>(x, 1);
  std::thread(watchdog, event).join();
  const cudaGraph_t graph = corpus::end_capture(stream);
  if (graph) corpus::replay(graph, stream, 3);
  return corpus::capture_dies(graph, corpus::read_one(x) == 3);
}
