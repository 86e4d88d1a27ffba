// Three side streams are forked in one loop's worth of lines; the last one's join was forgotten.
// Public fault: the class of deepseek-ai/DeepEP#62 with several streams: the report has to name the right
// one.
// CORPUS-BUILD: static
#include "corpus.h"

int main() {
  const cudaStream_t stream = corpus::new_stream();
  const cudaStream_t query = corpus::new_stream(), key = corpus::new_stream(), value = corpus::new_stream();
  const cudaEvent_t start = corpus::new_event(), query_done = corpus::new_event(),
                    key_done = corpus::new_event();
  int* x = corpus::device_ints(4);
  add<<<1, 1, 0, stream>>>(x, 0);
  CU(cudaStreamSynchronize(stream));

  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CU(cudaEventRecord(start, stream));
  CU(cudaStreamWaitEvent(query, start, 0));
  add<<<1, 1, 0, query>>>(x + 1, 1);
  CU(cudaStreamWaitEvent(key, start, 0));
  add<<<1, 1, 0, key>>>(x + 2, 1);
  CU(cudaStreamWaitEvent(value, start, 0));  // EXPECT: unjoined-stream error main
  add<<<1, 1, 0, value>>>(x + 3, 1);
  CU(cudaEventRecord(query_done, query));
  CU(cudaEventRecord(key_done, key));
  CU(cudaStreamWaitEvent(stream, query_done, 0));
  CU(cudaStreamWaitEvent(stream, key_done, 0));
#ifdef CLEAN
  const cudaEvent_t value_done = corpus::new_event();
  CU(cudaEventRecord(value_done, value));
  CU(cudaStreamWaitEvent(stream, value_done, 0));
#endif
  const cudaGraph_t graph = corpus::end_capture(stream);
  if (graph) corpus::replay(graph, stream, 3);
  return corpus::capture_dies(graph, corpus::read_back(x, 4) == std::vector<int>({0, 3, 3, 3}));
}
