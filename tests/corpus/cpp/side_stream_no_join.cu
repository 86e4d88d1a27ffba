// A dispatch kernel is forked to a communication stream and never joined.
// Public fault: deepseek-ai/DeepEP#62.
#include "corpus.h"

static void dispatch(cudaStream_t stream, cudaStream_t comm, cudaEvent_t forked, int* sent) {
  CU(cudaEventRecord(forked, stream));
  CU(cudaStreamWaitEvent(comm, forked, 0));  // EXPECT: unjoined-stream error dispatch
  add<<<1, 1, 0, comm>>>(sent, 1);
}

int main() {
  const cudaStream_t stream = corpus::new_stream(), comm = corpus::new_stream();
  const cudaEvent_t forked = corpus::new_event();
  int* x = corpus::device_ints(1);
  int* sent = corpus::device_ints(1);
  add<<<1, 1, 0, stream>>>(x, 1);
  CU(cudaStreamSynchronize(stream));

  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  dispatch(stream, comm, forked, sent);
  add<<<1, 1, 0, stream>>>(x, 1);
#ifdef CLEAN
  const cudaEvent_t joined = corpus::new_event();
  CU(cudaEventRecord(joined, comm));
  CU(cudaStreamWaitEvent(stream, joined, 0));
#endif
  const cudaGraph_t graph = corpus::end_capture(stream);
  if (graph) corpus::replay(graph, stream, 3);
  return corpus::capture_dies(graph, corpus::read_one(x) == 4 && corpus::read_one(sent) == 3);
}
