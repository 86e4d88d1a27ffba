// A pool grows inside a capture by the push/pop idiom: it exchanges its thread's capture mode for relaxed,
// allocates, and puts the mode back. The memory lives as long as the graph.
#include "tests/corpus/cpp/corpus.h"

class Pool {
 public:
  int* take() {
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    CU(cudaThreadExchangeStreamCaptureMode(&mode));
    int* block = nullptr;
    CU(cudaMalloc(&block, 1 << 20));
    CU(cudaThreadExchangeStreamCaptureMode(&mode));
    blocks_.push_back(block);
    return block;
  }

 private:
  std::vector<int*> blocks_;
};

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* x = corpus::device_ints(1);
  Pool pool;
  add<<<1, 1, 0, stream>>>(x, 1);
  copy_value<<<1, 1, 0, stream>>>(pool.take(), x);
  CU(cudaStreamSynchronize(stream));

  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  int* scratch = pool.take();
  add<<<1, 1, 0, stream>>>(x, 1);
  copy_value<<<1, 1, 0, stream>>>(scratch, x);
  const cudaGraph_t graph = corpus::end_capture(stream);
  if (!graph) return corpus::saw(false, "the capture died");
  corpus::replay(graph, stream, 3);
  return corpus::saw(corpus::read_one(scratch) == 4, "the pool grew inside the capture");
}
