// Two waits in a marked step: one is meant, allowed in code and in its break; the other was forgotten. Only
// the second is a fault. Public fault: the class of microsoft/onnxruntime#15002.
#include <capgate/capgate.h>

#include "corpus.h"

static void read_token(cudaStream_t stream) {
  const capgate::allow allow("host-sync", "the sampler reads one token");
  CU(cudaStreamSynchronize(stream));
}

static void route(cudaStream_t stream) {
  const capgate::eager_break eager("routing");
  CU(cudaStreamSynchronize(stream));
}

static void finish_layer([[maybe_unused]] cudaStream_t stream) {
#ifndef CLEAN
  CU(cudaStreamSynchronize(stream));  // EXPECT: host-sync error finish_layer
#endif
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* x = corpus::device_ints(1);
  for (int i = 0; i < 3; ++i) {
    const capgate::region region("decode");
    add<<<1, 1, 0, stream>>>(x, 1);
    route(stream);
    finish_layer(stream);
    read_token(stream);
  }
  CU(cudaStreamSynchronize(stream));
  return corpus::saw(corpus::read_one(x) == 3, "three eager steps");
}
