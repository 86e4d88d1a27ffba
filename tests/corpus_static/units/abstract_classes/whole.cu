#include "layer.h"

Layer* whole() {
  struct Whole : Half {
    void rest(cudaStream_t) override { cudaDeviceSynchronize(); }  // EXPECT: host-sync
  };
  static Whole one;
  return &one;
}
