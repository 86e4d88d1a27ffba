// In a relaxed capture CUDA accepts an allocation: it happens once, at capture time, and every replay
// shares what each call was to have for itself.
// Public fault: the class of NVIDIA/TensorRT-LLM#15534 in relaxed mode.
// EXPECT-VERDICT: pass
#include "corpus.h"

static int allocations = 0;

static int* take_scratch() {
  int* scratch = nullptr;
  CU(cudaMalloc(&scratch, 1 << 16));  // EXPECT: device-alloc warning take_scratch
  ++allocations;
  return scratch;
}

static void step(int* x, int* scratch, cudaStream_t stream) {
  copy_value<<<1, 1, 0, stream>>>(scratch, x);
  add<<<1, 1, 0, stream>>>(x, 1);
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* x = corpus::device_ints(1);
  int* scratch = take_scratch();
  step(x, scratch, stream);
  CU(cudaStreamSynchronize(stream));

  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
#ifndef CLEAN
  scratch = take_scratch();
#endif
  step(x, scratch, stream);
  const cudaGraph_t graph = corpus::end_capture(stream);
  if (!graph) return corpus::saw(false, "the capture died");
  corpus::replay(graph, stream, 3);
  const bool counted = corpus::read_one(x) == 4;
  return corpus::saw(counted && allocations == (corpus::kClean ? 1 : 2),
                     "three replays, no allocation by them");
}
