// A buffer wrapper remembers the event of its last use and waits for it before the next, by the driver API
// and three calls deep; during a capture that event still stems from warm-up.
// Public fault: huggingface/candle#3669.
// CORPUS-BUILD: driver tail-calls
#include <cuda.h>

#include "corpus.h"

class TrackedBuffer {
 public:
  TrackedBuffer() : data_(corpus::device_ints(1)) { cuEventCreate(&last_use_, CU_EVENT_DISABLE_TIMING); }

  int* use(CUstream stream) {
    order_after_last_use(stream);
    return data_;
  }
  void used(CUstream stream) { cuEventRecord(last_use_, stream); }
  const int* data() const { return data_; }

 private:
  void order_after_last_use([[maybe_unused]] CUstream stream) {
#ifndef CLEAN  // the clean twin has one stream, whose order is enough
    // EXPECT: foreign-event error order_after_last_use
    const CUresult result = cuStreamWaitEvent(stream, last_use_, 0);
    if (result != CUDA_SUCCESS) std::printf("waiting for the last use: %d\n", static_cast<int>(result));
#endif
  }

  int* data_;
  CUevent last_use_ = nullptr;
};

static void step(TrackedBuffer& buffer, cudaStream_t stream) {
  int* data = buffer.use(stream);
  add<<<1, 1, 0, stream>>>(data, 1);
  buffer.used(stream);
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  TrackedBuffer buffer;
  step(buffer, stream);
  CU(cudaStreamSynchronize(stream));

  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  step(buffer, stream);
  const cudaGraph_t graph = corpus::end_capture(stream);
  if (graph) corpus::replay(graph, stream, 3);
  return corpus::capture_dies(graph, corpus::read_one(buffer.data()) == 4);
}
