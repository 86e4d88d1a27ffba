// Logits go back to a vector by an "asynchronous" copy in every step: with pageable memory it waits all
// the same.
// Public fault: the class of pytorch/pytorch#91302, in the other direction.
// CORPUS-AUDIT: --region decode*
// CORPUS-BUILD: static
#include <nvtx3/nvToolsExt.h>

#include <string>

#include "corpus.h"

constexpr int kVocabulary = 1024;

static void read_logits(int* host, const int* logits, cudaStream_t stream) {
  const size_t bytes = kVocabulary * sizeof(int);
  // EXPECT: pageable-copy error read_logits
  CU(cudaMemcpyAsync(host, logits, bytes, cudaMemcpyDeviceToHost, stream));
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* logits = corpus::device_ints(kVocabulary);
#ifdef CLEAN
  int* host = nullptr;
  CU(cudaMallocHost(&host, kVocabulary * sizeof(int)));
#else
  std::vector<int> pageable(kVocabulary);
  int* host = pageable.data();
#endif
  for (int i = 0; i < 4; ++i) {
    const std::string name = "decode " + std::to_string(i);
    nvtxRangePushA(name.c_str());
    add<<<1, 1, 0, stream>>>(logits, 1);
    read_logits(host, logits, stream);
    nvtxRangePop();
    CU(cudaStreamSynchronize(stream));  // outside the step: the token has to be read at some time
  }
  return corpus::saw(host[0] == 4, "four eager steps");
}
