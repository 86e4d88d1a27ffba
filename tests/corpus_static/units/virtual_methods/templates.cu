// What implements the interface are class templates, of which `new` makes objects; of one nothing is made.
#include "layer.h"

template <class T>
struct Made : Layer {
  explicit Made(T* values) : values_(values) {}
  void forward(float*, cudaStream_t s) override { helper(values_, s); }
  template <class U>
  void helper(U* values, cudaStream_t s) {
    cudaMemsetAsync(values, 0, sizeof(U), s);
    cudaStreamSynchronize(s);  // EXPECT: host-sync
  }
  T* values_;
};

Layer* make_made(int* values) {
  return new Made<int>(values);
}
