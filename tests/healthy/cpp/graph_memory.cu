// Stream-ordered scratch allocated and freed within the captured step, on a forked and joined side stream
// too; the executable graph frees on launch what a caller may leave open.
#include "tests/corpus/cpp/corpus.h"

static void step(int* x, cudaStream_t stream, cudaStream_t side, cudaEvent_t forked, cudaEvent_t joined) {
  int* scratch = nullptr;
  CU(cudaMallocAsync(reinterpret_cast<void**>(&scratch), 1 << 16, stream));
  CU(cudaMemsetAsync(scratch, 0, sizeof(int), stream));
  CU(cudaEventRecord(forked, stream));
  CU(cudaStreamWaitEvent(side, forked, 0));
  add<<<1, 1, 0, side>>>(scratch, 1);
  CU(cudaEventRecord(joined, side));
  add<<<1, 1, 0, stream>>>(x, 1);
  CU(cudaStreamWaitEvent(stream, joined, 0));
  copy_value<<<1, 1, 0, stream>>>(x + 1, scratch);
  CU(cudaFreeAsync(scratch, stream));
}

int main() {
  const cudaStream_t stream = corpus::new_stream(), side = corpus::new_stream();
  const cudaEvent_t forked = corpus::new_event(), joined = corpus::new_event();
  int* x = corpus::device_ints(2);
  step(x, stream, side, forked, joined);
  CU(cudaDeviceSynchronize());

  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  step(x, stream, side, forked, joined);
  const cudaGraph_t graph = corpus::end_capture(stream);
  if (!graph) return corpus::saw(false, "the capture died");
  cudaGraphExec_t exec = nullptr;
  CU(cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
  for (int i = 0; i < 4; ++i) CU(cudaGraphLaunch(exec, stream));
  CU(cudaStreamSynchronize(stream));
  return corpus::saw(corpus::read_back(x, 2) == std::vector<int>({5, 1}),
                     "four replays with scratch of their own");
}
