// An interface takes the split sizes as a list and uploads them inside every step; the overload with a
// device pointer is the one to call.
// Public fault: NVIDIA/TransformerEngine#3038.
// CORPUS-AUDIT: --region step
#include <nvtx3/nvToolsExt.h>

#include "corpus.h"

__global__ void split(int* out, const int* sizes) {
  *out += sizes[0] + sizes[1];
}

static void split_rows(int* out, const int* device_sizes, cudaStream_t stream) {
  split<<<1, 1, 0, stream>>>(out, device_sizes);
}

[[maybe_unused]] static void split_rows(int* out, const std::vector<int>& sizes, int* scratch,
                                        cudaStream_t stream) {
  const size_t bytes = sizes.size() * sizeof(int);
  // EXPECT: pageable-copy error split_rows
  CU(cudaMemcpyAsync(scratch, sizes.data(), bytes, cudaMemcpyHostToDevice, stream));
  split_rows(out, scratch, stream);
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* out = corpus::device_ints(1);
  int* scratch = corpus::device_ints(2);
  const std::vector<int> sizes = {3, 4};
  CU(cudaMemcpy(scratch, sizes.data(), 2 * sizeof(int), cudaMemcpyHostToDevice));
  CU(cudaDeviceSynchronize());
  for (int i = 0; i < 3; ++i) {
    nvtxRangePushA("step");
#ifdef CLEAN
    split_rows(out, scratch, stream);
#else
    split_rows(out, sizes, scratch, stream);
#endif
    nvtxRangePop();
  }
  CU(cudaStreamSynchronize(stream));
  return corpus::saw(corpus::read_one(out) == 21, "three eager steps");
}
