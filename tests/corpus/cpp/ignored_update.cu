// Each request captures its step anew and updates the executable with it. A longer prompt adds a kernel; the
// update is refused, nobody looks, and the old graph runs on. Public kind: cudaErrorGraphExecUpdateFailure
// (910).
#include "corpus.h"

static cudaGraph_t capture_step(int* x, int kernels, cudaStream_t stream) {
  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < kernels; ++i) add<<<1, 1, 0, stream>>>(x, 1);
  return corpus::end_capture(stream);
}

static void run_request(cudaGraphExec_t& exec, int* x, int kernels, cudaStream_t stream) {
  const cudaGraph_t graph = capture_step(x, kernels, stream);
  if (exec == nullptr) {
    exec = corpus::instantiate(graph);
  } else {
    cudaGraphExecUpdateResultInfo result{};
    // EXPECT: graph-refused error run_request
    const cudaError_t updated = cudaGraphExecUpdate(exec, graph, &result);
    (void)cudaGetLastError();
#ifdef CLEAN
    if (updated != cudaSuccess) {
      CU(cudaGraphExecDestroy(exec));
      exec = corpus::instantiate(graph);
    }
#else
    (void)updated;
#endif
  }
  CU(cudaGraphLaunch(exec, stream));
  CU(cudaStreamSynchronize(stream));
  CU(cudaGraphDestroy(graph));
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* x = corpus::device_ints(1);
  cudaGraphExec_t exec = nullptr;
  for (const int kernels : {2, 2, 3, 3}) run_request(exec, x, kernels, stream);
  const int wanted = corpus::kClean ? 10 : 8;
  return corpus::saw(corpus::read_one(x) == wanted,
                     corpus::kClean ? "each request's own kernels" : "the old graph for longer requests");
}
