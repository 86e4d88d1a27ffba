// A transport sets up a channel on first use inside a capture: it puts its thread into relaxed mode,
// allocates, copies on a stream of its own, waits for it, and goes back. All of that is meant to happen once.
#include "../../corpus/cpp/corpus.h"

struct Channel {
  int* buffer = nullptr;
  cudaStream_t stream = nullptr;

  void connect() {
    if (buffer) return;
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    CU(cudaThreadExchangeStreamCaptureMode(&mode));
    stream = corpus::new_stream();
    CU(cudaMalloc(&buffer, 4096));
    int* host = nullptr;
    CU(cudaMallocHost(&host, 4096));
    host[0] = 5;
    CU(cudaMemcpyAsync(buffer, host, 4096, cudaMemcpyHostToDevice, stream));
    CU(cudaStreamSynchronize(stream));
    CU(cudaThreadExchangeStreamCaptureMode(&mode));
  }
};

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* x = corpus::device_ints(1);
  Channel channel;
  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  channel.connect();
  copy_value<<<1, 1, 0, stream>>>(x, channel.buffer);
  corpus::replay(corpus::end_capture(stream), stream, 3);
  return corpus::saw(corpus::read_one(x) == 5, "the channel's value in every replay");
}
