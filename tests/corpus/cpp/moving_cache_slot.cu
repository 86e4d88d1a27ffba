// The host adds up the address of the cache's next slot and passes it. Eagerly each step gets its own slot;
// the graph keeps the address of its capture.
// EXPECT-VERDICT: inconclusive
#include <capgate/capgate.h>

#include "corpus.h"

constexpr int kSlots = 64;

__global__ void project(const int* x, int* hidden) {
  *hidden = *x * 3;
}
__global__ void store(int* slot, const int* hidden) {
  *slot = *hidden;
}
__global__ void store_at(int* cache, int* position, const int* hidden) {
  cache[(*position)++] = *hidden;
}

struct Decoder {
  int *x = corpus::device_ints(1), *hidden = corpus::device_ints(1), *cache = corpus::device_ints(kSlots),
      *d_position = corpus::device_ints(1), *slot = cache;

  void step(cudaStream_t stream) {
    project<<<1, 1, 0, stream>>>(x, hidden);
#ifdef CLEAN
    store_at<<<1, 1, 0, stream>>>(cache, d_position, hidden);
#else
    store<<<1, 1, 0, stream>>>(slot++, hidden);  // EXPECT: stale-argument warning step
#endif
    CU(cudaGetLastError());
  }
};

int main() {
  const cudaStream_t stream = corpus::new_stream();
  Decoder decoder;
  CU(cudaMemset(decoder.x, 1, sizeof(int)));
  CU(cudaDeviceSynchronize());
  for (int i = 0; i < 3; ++i) {
    const capgate::region marked("decode");
    decoder.step(stream);
  }
  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  decoder.step(stream);
  corpus::replay(corpus::end_capture(stream), stream, 3);
  int written = 0;
  for (const int slot : corpus::read_back(decoder.cache, kSlots)) written += slot != 0 ? 1 : 0;
  if (corpus::kClean) return corpus::saw(written == 6, "six steps wrote six slots");
  return corpus::saw(written == 4, "three replays wrote one slot");
}
