// A piecewise step: two captured pieces, and between them a dynamic part that stays eager on purpose and
// reads a device value. The break is marked, so its wait is nobody's surprise.
#include <capgate/capgate.h>

#include "tests/corpus/cpp/corpus.h"

static cudaGraphExec_t capture_piece(int* x, int value, const char* bucket, cudaStream_t stream) {
  const capgate::bucket scope(bucket);
  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  add<<<1, 1, 0, stream>>>(x, value);
  const cudaGraph_t graph = corpus::end_capture(stream);
  return graph ? corpus::instantiate(graph) : nullptr;
}

// As many experts as the device says; the host has to know.
static void experts(int* x, const int* chosen, int* pinned, cudaStream_t stream) {
  const capgate::eager_break scope("experts");
  CU(cudaMemcpyAsync(pinned, chosen, sizeof(int), cudaMemcpyDeviceToHost, stream));
  CU(cudaStreamSynchronize(stream));
  for (int i = 0; i < *pinned; ++i) add<<<1, 1, 0, stream>>>(x, 10);
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* x = corpus::device_ints(1);
  int* chosen = corpus::device_ints(1);
  int* pinned = nullptr;
  CU(cudaMallocHost(&pinned, sizeof(int)));
  add<<<1, 1, 0, stream>>>(chosen, 2);
  CU(cudaStreamSynchronize(stream));

  const cudaGraphExec_t attention = capture_piece(x, 1, "attention bs=1", stream);
  const cudaGraphExec_t head = capture_piece(x, 1, "head bs=1", stream);
  if (!attention || !head) return corpus::saw(false, "a capture died");
  for (int i = 0; i < 4; ++i) {
    CU(cudaGraphLaunch(attention, stream));
    experts(x, chosen, pinned, stream);
    CU(cudaGraphLaunch(head, stream));
  }
  CU(cudaStreamSynchronize(stream));
  return corpus::saw(corpus::read_one(x) == 4 * 22, "four piecewise steps");
}
