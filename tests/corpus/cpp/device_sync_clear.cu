// Clearing a buffer waits for the whole device, on another thread, while a decode step is being captured.
// Thread-local capture does not help: a device-wide wait would include the captured stream.
// Public faults: ggml-org/llama.cpp#14033, NVIDIA/TensorRT#2888.
#include <thread>

#include "corpus.h"

static void clear_buffer(int* buffer, [[maybe_unused]] cudaStream_t own) {
#ifdef CLEAN
  CU(cudaMemsetAsync(buffer, 0, sizeof(int), own));
  CU(cudaStreamSynchronize(own));
#else
  (void)buffer;
  const cudaError_t result = cudaDeviceSynchronize();  // EXPECT: cross-thread-call error clear_buffer
  std::printf("waiting for the device: %s\n", cudaGetErrorString(result));
#endif
}

int main() {
  const cudaStream_t stream = corpus::new_stream(), own = corpus::new_stream();
  int* x = corpus::device_ints(1);
  int* buffer = corpus::device_ints(1);
  add<<<1, 1, 0, stream>>>(x, 1);
  CU(cudaStreamSynchronize(stream));

  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  add<<<1, 1, 0, stream>>>(x, 1);
  std::thread(clear_buffer, buffer, own).join();
  add<<<1, 1, 0, stream>>>(x, 1);
  const cudaGraph_t graph = corpus::end_capture(stream);
  if (graph) corpus::replay(graph, stream, 3);
  return corpus::capture_dies(graph, corpus::read_one(x) == 7);
}
