// A table of frequencies is built in a vector and uploaded inside the captured step. CUDA accepts it: the
// graph holds the vector's address and copies whatever stands there at each replay.
// Public fault: pytorch/pytorch#91302.
#include "corpus.h"

constexpr int kFrequencies = 16;

static void upload_table(int* table, std::vector<int>& frequencies, cudaStream_t stream) {
  for (int i = 0; i < kFrequencies; ++i) frequencies[i] = 100 + i;
  const size_t bytes = frequencies.size() * sizeof(int);
  // EXPECT-MAY: host-pointer error
  // EXPECT: pageable-copy error upload_table
  CU(cudaMemcpyAsync(table, frequencies.data(), bytes, cudaMemcpyHostToDevice, stream));
}

static void step(int* table, [[maybe_unused]] std::vector<int>& frequencies, int* x, cudaStream_t stream) {
#ifndef CLEAN
  upload_table(table, frequencies, stream);
#endif
  copy_value<<<1, 1, 0, stream>>>(x, table);
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* table = corpus::device_ints(kFrequencies);
  int* x = corpus::device_ints(1);
  std::vector<int> frequencies(kFrequencies);
  upload_table(table, frequencies, stream);  // once, before the capture: all that the clean twin needs
  step(table, frequencies, x, stream);
  CU(cudaStreamSynchronize(stream));

  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  step(table, frequencies, x, stream);
  const cudaGraph_t graph = corpus::end_capture(stream);
  if (!graph) return corpus::saw(false, "the capture died");
  frequencies.assign(kFrequencies, -1);  // the next request uses the vector for something else
  corpus::replay(graph, stream, 2);
  const int value = corpus::read_one(x);
  return corpus::kClean ? corpus::saw(value == 100, "the table is still right")
                        : corpus::saw(value == -1, "the replay uploaded what the vector holds now");
}
