// Another project's functions whose bodies stand in its headers are run, and judged at the call.
#include <capgate/capgate.h>
#include <cuda_runtime.h>
#include <dep/copy.h>

#include <vector>

void act() {}

template <class T>
static void fill(T* d, const std::vector<T>& v, cudaStream_t s) {
  dep::copy(d, v.data(), v.size(), s);    // EXPECT: pageable-copy
  dep::upload(d, v.data(), v.size(), s);  // EXPECT: pageable-copy
}
CAPGATE_REGION void copies(float* d, const float* e, const std::vector<float>& v, cudaStream_t s) {
  fill(d, v, s);
  dep::copy(d, e, 4, s);  // CLEAN: pageable-copy, nothing is known of both
  float* pinned = nullptr;
  cudaMallocHost(&pinned, 16);  // EXPECT: host-alloc
  dep::copy(d, pinned, 4, s);    // CLEAN: pageable-copy
  dep::upload(d, pinned, 4, s);  // CLEAN: pageable-copy
}
CAPGATE_REGION void reads_back(float* d, cudaStream_t s) {
  float x[1];
  dep::copy(x, d, 1, s);  // EXPECT: pageable-copy
  if (x[0] > 0) act();    // EXPECT: host-branch
}
CAPGATE_REGION void waits(dep::stream_view s, bool debug) {
  s.synchronize();             // EXPECT: host-sync
  if (debug) s.synchronize();  // EXPECT: host-sync:warning
}
CAPGATE_REGION void calls_back(cudaStream_t s) {
  dep::call_twice([&] { cudaStreamSynchronize(s); }, s);  // EXPECT: host-sync
}
void outside(float* d, const std::vector<float>& v, dep::stream_view s, cudaStream_t stream) {
  dep::copy(d, v.data(), v.size(), stream);  // CLEAN: pageable-copy

  s.synchronize();  // CLEAN: host-sync
}
