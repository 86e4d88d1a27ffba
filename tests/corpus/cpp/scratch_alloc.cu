// Scratch for the activations is a local owning buffer: allocated and freed in every call, refused inside
// a capture.
// Public faults: anthony-chaudhary/fak#969, NVIDIA/TensorRT-LLM#15534.
// CORPUS-BUILD: tail-calls
#include "corpus.h"

#ifndef CLEAN
class DeviceBuffer {
 public:
  explicit DeviceBuffer(size_t bytes) {
    const cudaError_t result = cudaMalloc(&data_, bytes);  // EXPECT: device-alloc error DeviceBuffer
    if (result != cudaSuccess) std::printf("scratch: %s\n", cudaGetErrorString(result));
  }
  ~DeviceBuffer() {
    if (data_) CU(cudaFree(data_));
  }
  int* data() const { return data_; }

 private:
  int* data_ = nullptr;
};
#endif

static void layer(int* x, [[maybe_unused]] int* scratch, cudaStream_t stream) {
#ifdef CLEAN
  copy_value<<<1, 1, 0, stream>>>(scratch, x);
  add<<<1, 1, 0, stream>>>(x, 1);
#else
  const DeviceBuffer buffer(1 << 16);
  if (!buffer.data()) return;
  copy_value<<<1, 1, 0, stream>>>(buffer.data(), x);
  add<<<1, 1, 0, stream>>>(x, 1);
#endif
}

static void model(int* x, int* scratch, cudaStream_t stream) {
  layer(x, scratch, stream);
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* x = corpus::device_ints(1);
  int* scratch = corpus::device_ints(1);
  model(x, scratch, stream);
  CU(cudaStreamSynchronize(stream));

  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  model(x, scratch, stream);
  const cudaGraph_t graph = corpus::end_capture(stream);
  if (graph) corpus::replay(graph, stream, 3);
  return corpus::capture_dies(graph, corpus::read_one(x) == 4);
}
