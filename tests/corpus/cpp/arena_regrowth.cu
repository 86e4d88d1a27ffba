// An arena frees and allocates again when a step asks for more than the last: in the second marked step, not
// in the first. Public fault: vllm-project/vllm#55336.
#include <capgate/capgate.h>

#include "corpus.h"

class Arena {
 public:
  int* take(size_t bytes) {
    if (bytes > bytes_) grow(bytes);
    return block_;
  }

 private:
  void grow(size_t bytes) {
    CU(cudaFree(block_));            // EXPECT: device-alloc error grow
    CU(cudaMalloc(&block_, bytes));  // EXPECT: device-alloc error grow
    bytes_ = bytes;
  }

  int* block_ = nullptr;
  size_t bytes_ = 0;
};

static void step(Arena& arena, size_t bytes, int* x, cudaStream_t stream) {
  const capgate::region region("decode");
  copy_value<<<1, 1, 0, stream>>>(arena.take(bytes), x);
  add<<<1, 1, 0, stream>>>(x, 1);
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* x = corpus::device_ints(1);
  Arena arena;
#ifdef CLEAN
  arena.take(8 << 20);  // the most that any step will ask for
#endif
  for (int i = 1; i <= 4; ++i) step(arena, static_cast<size_t>(i) << 20, x, stream);
  CU(cudaStreamSynchronize(stream));
  return corpus::saw(corpus::read_one(x) == 4, "four eager steps");
}
