// The grid of a kernel covers the tokens that there are. It grows with each eager step; the graph keeps
// the one of its capture, and the tokens of later steps are never looked at.
// EXPECT-VERDICT: inconclusive
#include <capgate/capgate.h>

#include "corpus.h"

constexpr int kMost = 64;

__global__ void count_on(int* length) {
  ++*length;
}
__global__ void mark(int* seen, const int* length) {
  if (static_cast<int>(blockIdx.x) < *length) seen[blockIdx.x] = 1;
}

static void step(int* seen, int* d_length, int length, cudaStream_t stream) {
  count_on<<<1, 1, 0, stream>>>(d_length);
  const int blocks = corpus::kClean ? kMost : length;
  mark<<<blocks, 1, 0, stream>>>(seen, d_length);  // EXPECT: stale-argument warning step
  CU(cudaGetLastError());
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int *seen = corpus::device_ints(kMost), *d_length = corpus::device_ints(1), length = 0;
  for (int i = 0; i < 3; ++i) {
    const capgate::region marked("decode");
    step(seen, d_length, ++length, stream);
  }
  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  step(seen, d_length, ++length, stream);
  corpus::replay(corpus::end_capture(stream), stream, 4);
  int marked = 0;
  for (const int one : corpus::read_back(seen, kMost)) marked += one;
  if (corpus::kClean) return corpus::saw(marked == 7, "seven tokens were seen");
  return corpus::saw(marked == 4, "the replays saw the tokens of the capture");
}
