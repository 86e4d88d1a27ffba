// An eager application on several streams: weights loaded from pageable memory, events between the streams,
// waits and queries wherever it likes. Only its last stage is captured; nothing before it is anybody's
// business.
#include "tests/corpus/cpp/corpus.h"

static void load_weights(int* weights, int count) {
  const std::vector<int> file(count, 1);
  CU(cudaMemcpy(weights, file.data(), count * sizeof(int), cudaMemcpyHostToDevice));
  CU(cudaDeviceSynchronize());
}

static void run_eagerly(int* x, cudaStream_t first, cudaStream_t second, cudaEvent_t done) {
  add<<<1, 1, 0, first>>>(x, 1);
  CU(cudaEventRecord(done, first));
  CU(cudaStreamWaitEvent(second, done, 0));
  add<<<1, 1, 0, second>>>(x, 1);
  add<<<1, 1>>>(x + 1, 1);  // the legacy default stream, eagerly
  while (cudaStreamQuery(second) == cudaErrorNotReady) {
  }
  int* scratch = nullptr;
  CU(cudaMalloc(&scratch, 1 << 20));
  CU(cudaMemset(scratch, 0, 1 << 20));
  CU(cudaFree(scratch));
  CU(cudaDeviceSynchronize());
}

int main() {
  const cudaStream_t first = corpus::new_stream(), second = corpus::new_stream();
  const cudaEvent_t done = corpus::new_event();
  int* x = corpus::device_ints(2);
  int* weights = corpus::device_ints(1024);
  load_weights(weights, 1024);
  for (int i = 0; i < 10; ++i) run_eagerly(x, first, second, done);

  copy_value<<<1, 1, 0, first>>>(x + 1, weights);
  CU(cudaStreamSynchronize(first));
  CU(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  add<<<1, 1, 0, first>>>(x, 1);
  copy_value<<<1, 1, 0, first>>>(x + 1, weights);
  const cudaGraph_t graph = corpus::end_capture(first);
  if (!graph) return corpus::saw(false, "the capture died");
  corpus::replay(graph, first, 5);
  return corpus::saw(corpus::read_back(x, 2) == std::vector<int>({25, 1}), "ten eager rounds, five replays");
}
