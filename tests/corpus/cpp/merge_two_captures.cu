// Two pipelines capture their own graphs, and one waits for the other's event: the captures meet.
// Public fault: the class of pytorch/pytorch#191681: one stream's work drawn into two captures.
#include "corpus.h"

static void wait_for(cudaStream_t stream, cudaEvent_t event) {
  // EXPECT: capture-merge|capture-invalidated error wait_for
  const cudaError_t result = cudaStreamWaitEvent(stream, event, 0);
  if (result != cudaSuccess) std::printf("waiting for the other pipeline: %s\n", cudaGetErrorString(result));
}

int main() {
  const cudaStream_t first = corpus::new_stream(), second = corpus::new_stream();
  [[maybe_unused]] const cudaEvent_t event = corpus::new_event();
  int* x = corpus::device_ints(2);
  add<<<1, 1, 0, first>>>(x, 1);
  CU(cudaStreamSynchronize(first));

  CU(cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal));
  CU(cudaStreamBeginCapture(second, cudaStreamCaptureModeThreadLocal));
  add<<<1, 1, 0, first>>>(x, 1);
  add<<<1, 1, 0, second>>>(x + 1, 1);
#ifdef CLEAN
  (void)wait_for;
#else
  CU(cudaEventRecord(event, first));
  wait_for(second, event);
#endif
  const cudaGraph_t later = corpus::end_capture(second);
  const cudaGraph_t graph = corpus::end_capture(first);
  if (graph && later) {
    corpus::replay(graph, first, 3);
    corpus::replay(later, second, 3);
  }
  return corpus::capture_dies(graph && later ? graph : nullptr,
                              corpus::read_back(x, 2) == std::vector<int>({4, 3}));
}
