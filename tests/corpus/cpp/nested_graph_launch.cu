// A library runs its own graph inside its caller's capture.
// Public fault: microsoft/onnxruntime#32081.
#include "corpus.h"

static void run_library_graph(cudaGraphExec_t exec, cudaStream_t stream) {
  // EXPECT: nested-launch|capture-invalidated error run_library_graph
  const cudaError_t result = cudaGraphLaunch(exec, stream);
  if (result != cudaSuccess) std::printf("the library's graph: %s\n", cudaGetErrorString(result));
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* x = corpus::device_ints(1);
  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  add<<<1, 1, 0, stream>>>(x, 1);
  const cudaGraph_t library = corpus::end_capture(stream);
  const cudaGraphExec_t exec = corpus::instantiate(library);
  run_library_graph(exec, stream);
  CU(cudaStreamSynchronize(stream));

  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
#ifdef CLEAN
  add<<<1, 1, 0, stream>>>(x, 1);  // the library's work itself, not its graph
#else
  run_library_graph(exec, stream);
#endif
  const cudaGraph_t graph = corpus::end_capture(stream);
  if (graph) corpus::replay(graph, stream, 3);
  return corpus::capture_dies(graph, corpus::read_one(x) == 4);
}
