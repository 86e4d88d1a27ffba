#include "layer.h"

void inner(int layer, cudaStream_t stream) {
  if (layer % 2) cudaStreamSynchronize(stream);  // EXPECT: host-sync
}

void once(int mode, cudaStream_t stream) {
  if (mode % 2) cudaStreamSynchronize(stream);  // EXPECT: host-sync:warning
}
