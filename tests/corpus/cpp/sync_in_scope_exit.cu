// A run scope waits for its stream when it closes, also when its caller is capturing.
// Public fault: microsoft/onnxruntime#15002.
#include "corpus.h"

class RunScope {
 public:
  RunScope(cudaStream_t stream, cudaEvent_t done) : stream_(stream), done_(done) {}
  ~RunScope() {
#ifdef CLEAN
    CU(cudaEventRecord(done_, stream_));  // whoever needs the result waits for it, later
#else
    const cudaError_t result = cudaStreamSynchronize(stream_);  // EXPECT: host-sync error ~RunScope
    if (result != cudaSuccess) std::printf("closing the scope: %s\n", cudaGetErrorString(result));
#endif
  }

 private:
  cudaStream_t stream_;
  [[maybe_unused]] cudaEvent_t done_;
};

static void run(cudaStream_t stream, cudaEvent_t done, int* x) {
  RunScope scope(stream, done);
  add<<<1, 1, 0, stream>>>(x, 1);
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  const cudaEvent_t done = corpus::new_event();
  int* x = corpus::device_ints(1);
  run(stream, done, x);
  CU(cudaStreamSynchronize(stream));

  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  run(stream, done, x);
  const cudaGraph_t graph = corpus::end_capture(stream);
  if (graph) corpus::replay(graph, stream, 3);
  return corpus::capture_dies(graph, corpus::read_one(x) == 4);
}
