// The old stream callback cannot be captured: the capture is lost at this call, which no finer rule speaks
// of.
// Public fault: the class of NVIDIA/warp#556: a host-side notification inside the captured step.
#include "corpus.h"

static void CUDART_CB note_callback(cudaStream_t, cudaError_t, void* count) {
  ++*static_cast<int*>(count);
}

static void step(int* x, [[maybe_unused]] int* finished, cudaStream_t stream) {
  add<<<1, 1, 0, stream>>>(x, 1);
#ifndef CLEAN
  // EXPECT: capture-invalidated|host-node error step
  const cudaError_t result = cudaStreamAddCallback(stream, note_callback, finished, 0);
  if (result != cudaSuccess) std::printf("adding the callback: %s\n", cudaGetErrorString(result));
#endif
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* x = corpus::device_ints(1);
  int finished = 0;
  step(x, &finished, stream);
  CU(cudaStreamAddCallback(stream, note_callback, &finished, 0));
  CU(cudaStreamSynchronize(stream));

  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  step(x, &finished, stream);
  const cudaGraph_t graph = corpus::end_capture(stream);
  if (graph) corpus::replay(graph, stream, 3);
  return corpus::capture_dies(graph, corpus::read_one(x) == 4);
}
