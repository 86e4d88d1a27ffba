// OPTIONS: --whole-file
// Each call of a function that allocates gives another object; entries of a map are found by their keys.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <map>

inline void* checked(size_t bytes) {
  void* p = std::malloc(bytes);
  if (!p) std::exit(1);  // CLEAN: host-branch
  return p;
}
template <class T>
T* array(size_t count) {
  return static_cast<T*>(checked(count * sizeof(T)));
}
inline void into(float** out, size_t count) {
  *out = static_cast<float*>(checked(count * sizeof(float)));
}

int apart(const float* device, std::FILE* file) {
  int* tokens = array<int>(16);
  float* logits = array<float>(16);
  float *mean, *deviation;
  into(&mean, 4);
  into(&deviation, 4);
  if (std::fread(tokens, 4, 16, file) != 16) return 2;  // CLEAN: host-branch
  cudaMemcpy(logits, device, 64, cudaMemcpyDeviceToHost);
  cudaMemcpy(mean, device, 16, cudaMemcpyDeviceToHost);
  if (tokens[3] < 0) return 1;  // CLEAN: host-branch
  if (deviation[0] > 1.0f) return 1;  // CLEAN: host-branch
  if (mean[0] > 1.0f) return 1;      // EXPECT: host-branch:warning
  return logits[3] > 0.5f ? 1 : 0;  // EXPECT: host-branch:warning
}

struct Entry {
  float scale;
};
int keyed(const float* device, int key, int other) {
  std::map<int, Entry> cache;
  float scale;
  cudaMemcpy(&scale, device, 4, cudaMemcpyDeviceToHost);
  cache[key] = Entry{scale};
  if (cache.count(other)) return 1;  // CLEAN: host-branch
  if (cache.find(other) != cache.end()) return 2;  // CLEAN: host-branch
  return cache[key].scale > 1.0f ? 1 : 0;  // EXPECT: host-branch:warning
}
