// Operators in a template that might be some class' own: the built-in ones are meant, and nothing is called through them.
#include <cuda_runtime.h>

__global__ void work(float*);

struct pair {
  int a, b;
};
bool operator!=(pair, pair);
bool operator==(pair, pair);
bool operator<(pair, pair);
bool operator!(pair);
bool operator&&(pair, pair);
pair operator+(pair, pair);
pair operator-(pair);
pair& operator+=(pair&, pair);
pair& operator++(pair&);
pair operator++(pair&, int);

struct pool {
  void give_back(void*, size_t) {}
  void* take(size_t, size_t*) { return nullptr; }
};

template <typename T>
struct buffer {
  pool& from;
  T* memory = nullptr;
  size_t actual = 0;

  explicit buffer(pool& p) : from(p) {}
  ~buffer() {
    if (memory != nullptr) from.give_back(memory, actual);  // CLEAN: host-branch
  }
  T* take(size_t n) {
    memory = static_cast<T*>(from.take(n * sizeof(T), &actual));
    return memory;
  }
};

template <typename T>
int judged(T* pinned, const T* limit, T host) {
  T value = pinned[0];
  int n = 0;
  if (value != *limit) ++n;          // EXPECT: host-branch
  if (!value) ++n;                   // EXPECT: host-branch
  T other = -value;
  if (other == host) ++n;            // EXPECT: host-branch
  other = host + value;
  if (other < host && host) ++n;     // EXPECT: host-branch
  other = host;
  if (other != host) ++n;  // CLEAN: host-branch
  other += value;
  if (other == T()) ++n;             // EXPECT: host-branch
  ++host;
  host++;
  if (host != T() && !host) ++n;  // CLEAN: host-branch
  if (pinned != nullptr) ++n;  // CLEAN: host-branch
  return n;
}

int captured(pool& p, float* pinned, const float* device, cudaStream_t stream) {
  cudaGraph_t graph;
  const float limit = 1;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  buffer<float> scratch(p);
  work<<<1, 1, 0, stream>>>(scratch.take(4));
  cudaMemcpyAsync(pinned, device, 4, cudaMemcpyDeviceToHost, stream);
  const int n = judged(pinned, &limit, 2.f);
  cudaStreamEndCapture(stream, &graph);
  return n;
}
