// What is made at its first use, one for each device or kind: a warm-up has made it.
#include <cuda_runtime.h>

#include <vector>

struct Context {
  void* handles[4][8] = {};
  std::vector<void*> buffers;
  bool ready[8] = {};
  void* others[8] = {};

  void* handle(int device, int kind) {
    if (handles[device][kind] == nullptr) cudaMalloc(&handles[device][kind], 64);  // EXPECT: device-alloc:note
    return handles[device][kind];
  }
  void* buffer(size_t i) {
    if (buffers[i] == nullptr) cudaMalloc(&buffers[i], 64);  // EXPECT: device-alloc:note
    return buffers[i];
  }
  void prepare(int i) {
    if (!ready[i]) {
      cudaMalloc(&others[i], 64);  // EXPECT: device-alloc:note
      ready[i] = true;
    }
  }
  // What is asked is never written: each step does it again.
  void never(int i) {
    if (handles[i][0] == nullptr) cudaMalloc(&others[i], 64);  // EXPECT: device-alloc:warning
  }
};

// What is asked ends with the call.
void each_time(int i) {
  void* own[4] = {};
  if (own[i] == nullptr) cudaMalloc(&own[i], 64);  // EXPECT: device-alloc:warning
}

void step(Context& context, cudaStream_t stream, int device, int kind) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
  cudaMemsetAsync(context.handle(device, kind), 0, 4, stream);
  cudaMemsetAsync(context.buffer(2), 0, 4, stream);
  context.prepare(kind);
  context.never(kind);
  each_time(kind);
  cudaStreamEndCapture(stream, &graph);
}
