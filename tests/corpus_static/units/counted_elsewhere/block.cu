#include "layer.h"

static void helper(int layer, cudaStream_t stream) {
  if (layer == 4) cudaStreamSynchronize(stream);  // EXPECT: host-sync
}

void block(int layer, int mode, cudaStream_t stream) {
  if (layer == 0) cudaStreamSynchronize(stream);  // EXPECT: host-sync
  if (mode == 1) cudaDeviceSynchronize();         // EXPECT: host-sync:warning
  helper(layer + 1, stream);
  inner(layer, stream);
}
