// A copy helper spins until its stream is idle, three calls below the captured step.
// Public fault: JuliaGPU/CUDA.jl#1229.
#include "corpus.h"

[[maybe_unused]] static bool spin_until_idle(cudaStream_t stream) {
  cudaError_t state = cudaErrorNotReady;
  while (state == cudaErrorNotReady) {
    state = cudaStreamQuery(stream);  // EXPECT: host-poll error spin_until_idle
  }
  return state == cudaSuccess;
}

static void copy_to_device(int* to, const int* pinned, cudaStream_t stream) {
#ifndef CLEAN
  if (!spin_until_idle(stream)) std::printf("the stream cannot be asked\n");
#endif
  const cudaError_t result = cudaMemcpyAsync(to, pinned, sizeof(int), cudaMemcpyHostToDevice, stream);
  if (result != cudaSuccess) std::printf("copy: %s\n", cudaGetErrorString(result));
}

static void set_input(int* x, const int* pinned, cudaStream_t stream) {
  copy_to_device(x, pinned, stream);
}

static void step(int* x, const int* pinned, cudaStream_t stream) {
  set_input(x, pinned, stream);
  add<<<1, 1, 0, stream>>>(x, 1);
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* x = corpus::device_ints(1);
  int* pinned = nullptr;
  CU(cudaMallocHost(&pinned, sizeof(int)));
  *pinned = 10;
  step(x, pinned, stream);
  CU(cudaStreamSynchronize(stream));

  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  step(x, pinned, stream);
  const cudaGraph_t graph = corpus::end_capture(stream);
  *pinned = 20;
  if (graph) corpus::replay(graph, stream, 3);
  return corpus::capture_dies(graph, corpus::read_one(x) == 21);
}
