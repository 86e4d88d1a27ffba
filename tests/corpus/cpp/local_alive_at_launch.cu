// The result of a captured step is copied into a variable of the function that captures and launches. The
// variable lives as long as the graph: the copy is right, though each of them makes the host wait.
// Public shape: NVIDIA's cuda-samples simpleCudaGraphs.
#include "corpus.h"

// EXPECT-VERDICT: pass
static int sum_by_graph(int* x, cudaStream_t stream) {
#ifdef CLEAN
  int* sum = nullptr;
  CU(cudaMallocHost(&sum, sizeof *sum));
#else
  int place = 0;
  int* sum = &place;
#endif
  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  add<<<1, 1, 0, stream>>>(x, 3);
  // EXPECT: pageable-copy warning sum_by_graph
  CU(cudaMemcpyAsync(sum, x, sizeof *sum, cudaMemcpyDeviceToHost, stream));
  const cudaGraphExec_t exec = corpus::instantiate(corpus::end_capture(stream));
  for (int i = 0; i < 3; ++i) CU(cudaGraphLaunch(exec, stream));
  CU(cudaStreamSynchronize(stream));
  const int result = *sum;
  CU(cudaGraphExecDestroy(exec));
  return result;
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* x = corpus::device_ints(1);
  return corpus::saw(sum_by_graph(x, stream) == 9, "the sum of three launches");
}
