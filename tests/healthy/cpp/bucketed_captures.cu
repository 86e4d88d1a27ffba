// One graph a batch size, captured at start-up from the largest to the smallest as servers do, then replayed
// in an order that the host chooses by the batch it has: a branch on what the host knows.
#include "tests/corpus/cpp/corpus.h"

constexpr int kBuckets[] = {16, 8, 4, 2, 1};

__global__ void decode(int* rows) {
  rows[threadIdx.x] += 1;
}

static cudaGraphExec_t capture(int* rows, int batch, cudaStream_t stream) {
  CU(cudaDeviceSynchronize());  // as frameworks do before each capture
  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  decode<<<1, batch, 0, stream>>>(rows);
  const cudaGraph_t graph = corpus::end_capture(stream);
  return graph ? corpus::instantiate(graph) : nullptr;
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* rows = corpus::device_ints(16);
  decode<<<1, 16, 0, stream>>>(rows);
  std::vector<cudaGraphExec_t> graphs;
  for (const int batch : kBuckets) graphs.push_back(capture(rows, batch, stream));
  for (const cudaGraphExec_t graph : graphs) {
    if (!graph) return corpus::saw(false, "a capture died");
  }
  const int batches[] = {3, 16, 1, 7, 2, 5};
  for (const int batch : batches) {
    size_t bucket = 0;
    while (bucket + 1 < graphs.size() && kBuckets[bucket + 1] >= batch) ++bucket;
    CU(cudaGraphLaunch(graphs[bucket], stream));
  }
  CU(cudaStreamSynchronize(stream));
  const std::vector<int> after = corpus::read_back(rows, 16);
  return corpus::saw(after[0] == 7 && after[3] == 5 && after[15] == 2,
                     "each batch went to its bucket's graph");
}
