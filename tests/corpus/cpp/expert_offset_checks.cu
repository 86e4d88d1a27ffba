// A grouped product checks every expert's offset on the host: a synchronous read an expert, in every step.
// Public fault: NVIDIA/Fuser#5438.
// CORPUS-AUDIT: --region step
#include <nvtx3/nvToolsExt.h>

#include "corpus.h"

constexpr int kExperts = 4;

__global__ void grouped_product(int* out, const int* offsets) {
  if (offsets[threadIdx.x] >= 0) atomicAdd(out, 1);
}

[[maybe_unused]] static void check_offsets(const int* offsets) {
  for (int expert = 0; expert < kExperts; ++expert) {
    int offset = 0;
    // EXPECT: sync-copy error check_offsets
    CU(cudaMemcpy(&offset, offsets + expert, sizeof offset, cudaMemcpyDeviceToHost));
    if (offset < 0) std::exit(1);
  }
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* offsets = corpus::device_ints(kExperts);
  int* out = corpus::device_ints(1);
  for (int i = 0; i < 3; ++i) {
    nvtxRangePushA("step");
#ifndef CLEAN
    check_offsets(offsets);
#endif
    grouped_product<<<1, kExperts, 0, stream>>>(out, offsets);  // checks what it reads by itself
    nvtxRangePop();
  }
  CU(cudaStreamSynchronize(stream));
  return corpus::saw(corpus::read_one(out) == 3 * kExperts, "three eager steps");
}
