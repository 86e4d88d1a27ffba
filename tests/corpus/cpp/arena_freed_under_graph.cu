// An arena grows after the first capture: it frees the block that the first graph still uses, and the next
// allocation gets its address. Public fault: vllm-project/vllm#55336.
#include "corpus.h"

class Arena {
 public:
  int* take(size_t bytes) {
    if (bytes > bytes_) grow(bytes);
    return block_;
  }

 private:
  void grow(size_t bytes) {
    if (block_) CU(cudaFree(block_));  // EXPECT: freed-memory error grow
    CU(cudaMalloc(&block_, bytes));
    CU(cudaMemset(block_, 0, bytes));
    CU(cudaDeviceSynchronize());
    bytes_ = bytes;
  }

  int* block_ = nullptr;
  size_t bytes_ = 0;
};

static cudaGraph_t capture_step(Arena& arena, size_t bytes, int* x, cudaStream_t stream) {
  int* const scratch = arena.take(bytes);
  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  add<<<1, 1, 0, stream>>>(scratch, 1);
  copy_value<<<1, 1, 0, stream>>>(x, scratch);
  return corpus::end_capture(stream);
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* x = corpus::device_ints(1);
  Arena arena;
#ifdef CLEAN
  arena.take(8 << 20);  // the most that any step will ask for
#endif
  const cudaGraphExec_t small = corpus::instantiate(capture_step(arena, 4 << 20, x, stream));
  CU(cudaGraphLaunch(small, stream));
  CU(cudaStreamSynchronize(stream));
  const cudaGraphExec_t large = corpus::instantiate(capture_step(arena, 8 << 20, x, stream));
  int* tenant = corpus::device_ints(1 << 20);  // as large as the block that went
  CU(cudaGraphLaunch(large, stream));
  CU(cudaGraphLaunch(small, stream));
  CU(cudaStreamSynchronize(stream));
  const bool hurt = corpus::read_one(tenant) != 0;
  if (!corpus::kClean)
    return corpus::saw(true, hurt ? "the replay wrote into another buffer" : "the replay ran");
  return corpus::saw(!hurt && corpus::read_one(x) == 3, "three steps on one arena");
}
