// A captured step allocates its output from the stream-ordered allocator and hands it on; nobody frees it.
// The first launch works, the second is refused, and the program goes on with what it has.
#include "corpus.h"

static int* step(int* x, cudaStream_t stream) {
  int* output = nullptr;
  // EXPECT: graph-alloc-leak error step
  CU(cudaMallocAsync(reinterpret_cast<void**>(&output), 1 << 20, stream));
  copy_value<<<1, 1, 0, stream>>>(output, x);
  add<<<1, 1, 0, stream>>>(x, 1);
  return output;
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* x = corpus::device_ints(1);
  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  int* output = step(x, stream);
  const cudaGraph_t graph = corpus::end_capture(stream);
  if (graph == nullptr) return corpus::saw(false, "the capture died");
  const cudaGraphExec_t exec = corpus::instantiate(graph);
  int refused = 0;
  for (int i = 0; i < 3; ++i) {
    if (cudaGraphLaunch(exec, stream) != cudaSuccess) ++refused;
    (void)cudaGetLastError();
#ifdef CLEAN
    CU(cudaFreeAsync(output, stream));  // before the next launch makes another
#endif
  }
  CU(cudaStreamSynchronize(stream));
#ifndef CLEAN
  (void)output;
#endif
  return corpus::saw(refused == (corpus::kClean ? 0 : 2) && corpus::read_one(x) == 3 - refused,
                     corpus::kClean ? "three launches" : "only the first launch runs");
}
