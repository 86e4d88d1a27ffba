// The next weights are copied on a copy stream from inside the captured step, without a fork: the copy
// runs once, while capturing, and no replay repeats it.
// Public faults: the class of local-inference-lab/vllm#93 and sgl-project/sglang#29166.
#include "corpus.h"

struct Streams {
  cudaStream_t compute, copies;
  [[maybe_unused]] cudaEvent_t forked, joined;
};

static void step(const Streams& s, int* weight, const int* pinned, int* x) {
#ifdef CLEAN
  CU(cudaEventRecord(s.forked, s.compute));
  CU(cudaStreamWaitEvent(s.copies, s.forked, 0));
#endif
  // EXPECT: escaped-work error step
  CU(cudaMemcpyAsync(weight, pinned, sizeof(int), cudaMemcpyHostToDevice, s.copies));
#ifdef CLEAN
  CU(cudaEventRecord(s.joined, s.copies));
  CU(cudaStreamWaitEvent(s.compute, s.joined, 0));
#endif
  copy_value<<<1, 1, 0, s.compute>>>(x, weight);
}

int main() {
  const Streams streams{corpus::new_stream(), corpus::new_stream(), corpus::new_event(), corpus::new_event()};
  int* weight = corpus::device_ints(1);
  int* x = corpus::device_ints(1);
  int* pinned = nullptr;
  CU(cudaMallocHost(&pinned, sizeof(int)));
  *pinned = 1;
  step(streams, weight, pinned, x);
  CU(cudaDeviceSynchronize());

  CU(cudaStreamBeginCapture(streams.compute, cudaStreamCaptureModeGlobal));
  step(streams, weight, pinned, x);
  const cudaGraph_t graph = corpus::end_capture(streams.compute);
  if (!graph) return corpus::saw(false, "the capture died");
  CU(cudaStreamSynchronize(streams.copies));
  *pinned = 2;
  corpus::replay(graph, streams.compute, 2);
  const int value = corpus::read_one(x);
  return corpus::kClean ? corpus::saw(value == 2, "each replay copies")
                        : corpus::saw(value == 1, "no replay copied the new weight");
}
