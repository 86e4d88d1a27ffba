// A step is captured once and put into a larger graph as a child. The step's read-back goes into an array of
// the function that captured it.
#include "corpus.h"

static cudaGraph_t capture_step(int* x, int* pinned, cudaStream_t stream) {
#ifdef CLEAN
  int* host = pinned;
#else
  (void)pinned;
  int on_stack[16] = {};
  int* host = on_stack;
#endif
  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  add<<<1, 1, 0, stream>>>(x, 1);
  // EXPECT: pageable-copy error capture_step
  CU(cudaMemcpyAsync(host, x, sizeof(int), cudaMemcpyDeviceToHost, stream));
  return corpus::end_capture(stream);
}

// Over the frame that the capture's function had.
static int work_between() {
  volatile int scratch[64] = {};
  for (int i = 0; i < 64; ++i) scratch[i] = i;
  return scratch[63];
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* x = corpus::device_ints(1);
  int* pinned = nullptr;
  CU(cudaMallocHost(&pinned, sizeof(int)));
  *pinned = 0;
  const cudaGraph_t step = capture_step(x, pinned, stream);
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t first = nullptr, second = nullptr;
  CU(cudaGraphCreate(&graph, 0));
  CU(cudaGraphAddChildGraphNode(&first, graph, nullptr, 0, step));
  CU(cudaGraphAddChildGraphNode(&second, graph, &first, 1, step));
  const int before = work_between();
  const cudaGraphExec_t exec = corpus::instantiate(graph);
  for (int i = 0; i < 2; ++i) CU(cudaGraphLaunch(exec, stream));
  CU(cudaStreamSynchronize(stream));
  const bool seen = *pinned == 4;
  return corpus::saw(corpus::read_one(x) == 4 && before == 63 && seen == corpus::kClean,
                     "two steps in a graph, launched twice");
}
