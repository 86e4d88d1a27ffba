// The common path is clean; with speculative decoding and chunked prefill together a list of offsets is
// made on the host. One audit without the flag finds nothing: coverage is what was run.
// Public fault: vllm-project/vllm#40807.
// CORPUS-ARGS: --speculative
#include <cstring>

#include "corpus.h"

constexpr int kSequences = 4;

[[maybe_unused]] static std::vector<int> offsets_as_list(const int* offsets, int* pinned,
                                                         cudaStream_t stream) {
  (void)cudaMemcpyAsync(pinned, offsets, kSequences * sizeof(int), cudaMemcpyDeviceToHost, stream);
  const cudaError_t result = cudaStreamSynchronize(stream);  // EXPECT: host-sync error offsets_as_list
  if (result != cudaSuccess) std::printf("the list of offsets: %s\n", cudaGetErrorString(result));
  return std::vector<int>(pinned, pinned + kSequences);
}

static void decode(const int* offsets, [[maybe_unused]] int* pinned, int* x, bool speculative,
                   cudaStream_t stream) {
  if (!speculative) {
    add<<<1, 1, 0, stream>>>(x, 1);
    return;
  }
#ifdef CLEAN
  (void)offsets;
  for (int i = 0; i < kSequences; ++i) add<<<1, 1, 0, stream>>>(x, 1);
#else
  for (int offset : offsets_as_list(offsets, pinned, stream)) add<<<1, 1, 0, stream>>>(x, offset);
#endif
}

int main(int argc, char** argv) {
  const bool speculative = argc > 1 && std::strcmp(argv[1], "--speculative") == 0;
  const cudaStream_t stream = corpus::new_stream();
  int* x = corpus::device_ints(1);
  int* offsets = corpus::device_ints(kSequences);
  int* pinned = nullptr;
  CU(cudaMallocHost(&pinned, kSequences * sizeof(int)));
  add<<<1, 1, 0, stream>>>(x, 0);
  CU(cudaStreamSynchronize(stream));

  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  decode(offsets, pinned, x, speculative, stream);
  const cudaGraph_t graph = corpus::end_capture(stream);
  if (graph) corpus::replay(graph, stream, 3);
  if (!speculative) return corpus::saw(graph != nullptr, "the common path captures");
  return corpus::capture_dies(graph, corpus::read_one(x) == 3 * kSequences);
}
