// A decode step passes its position by value. The steps that run eagerly count it up; the graph keeps the one
// that was current when it was captured, so every replay writes the same slot of the cache.
// EXPECT-VERDICT: inconclusive
#include <capgate/capgate.h>

#include "corpus.h"

constexpr int kSlots = 64;

__global__ void project(const int* x, int* hidden, int scale) {
  hidden[threadIdx.x] = x[threadIdx.x] * scale;
}
__global__ void append(int* cache, const int* hidden, int position) {
  cache[position] = hidden[0];
}
__global__ void append_at(int* cache, const int* hidden, const int* position) {
  cache[*position] = hidden[0];
}
__global__ void advance(int* position) {
  ++*position;
}

struct Decoder {
  int *x = corpus::device_ints(32), *hidden = corpus::device_ints(32), *cache = corpus::device_ints(kSlots),
      *d_position = corpus::device_ints(1);
  int position = 0;

  void step(cudaStream_t stream) {
    project<<<1, 32, 0, stream>>>(x, hidden, 3);
#ifdef CLEAN
    append_at<<<1, 1, 0, stream>>>(cache, hidden, d_position);
#else
    append<<<1, 1, 0, stream>>>(cache, hidden, position++);  // EXPECT: stale-argument warning step
#endif
    advance<<<1, 1, 0, stream>>>(d_position);
    CU(cudaGetLastError());
  }
};

int main() {
  const cudaStream_t stream = corpus::new_stream();
  Decoder decoder;
  CU(cudaMemset(decoder.x, 1, 32 * sizeof(int)));
  CU(cudaDeviceSynchronize());
  for (int i = 0; i < 3; ++i) {
    const capgate::region marked("decode");
    decoder.step(stream);
  }
  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  decoder.step(stream);
  corpus::replay(corpus::end_capture(stream), stream, 3);
  const std::vector<int> cache = corpus::read_back(decoder.cache, kSlots);
  int written = 0;
  for (const int slot : cache) written += slot != 0 ? 1 : 0;
  if (corpus::kClean) return corpus::saw(written == 6, "six steps wrote six slots");
  return corpus::saw(written == 4, "three replays wrote one slot");
}
