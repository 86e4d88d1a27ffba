// The decode loop replays its graph and then waits for three streams one by one, in every step: legal, and
// more waiting than reading a token needs.
// Public fault: the waits around the graphs of GeeeekExplorer/nano-vllm#175.
// EXPECT-VERDICT: pass
#include "corpus.h"

static void wait_for_all(const std::vector<cudaStream_t>& streams) {
  for (const cudaStream_t stream : streams) {
    CU(cudaStreamSynchronize(stream));  // EXPECT: host-sync warning wait_for_all
  }
}

int main() {
  const std::vector<cudaStream_t> streams = {corpus::new_stream(), corpus::new_stream(),
                                             corpus::new_stream()};
  int* x = corpus::device_ints(1);
  add<<<1, 1, 0, streams[0]>>>(x, 1);
  CU(cudaStreamSynchronize(streams[0]));

  CU(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal));
  add<<<1, 1, 0, streams[0]>>>(x, 1);
  const cudaGraph_t graph = corpus::end_capture(streams[0]);
  if (!graph) return corpus::saw(false, "the capture died");
  const cudaGraphExec_t exec = corpus::instantiate(graph);
  for (int i = 0; i < 5; ++i) {
    CU(cudaGraphLaunch(exec, streams[0]));
#ifdef CLEAN
    wait_for_all({streams[0]});
#else
    wait_for_all(streams);
#endif
  }
  return corpus::saw(corpus::read_one(x) == 6, "five steps");
}
