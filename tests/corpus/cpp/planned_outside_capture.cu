// An attention library plans its work on the device before each step, and leaves the plan out while a
// capture is open, because an older driver refused it. The replays run on the plan of the last eager step.
// EXPECT-VERDICT: inconclusive
#include <capgate/capgate.h>

#include "corpus.h"

__global__ void lengthen(int* length) {
  ++*length;
}
__global__ void plan(const int* length, int* last_block) {
  *last_block = *length - 1;
}
__global__ void attend(int* seen, const int* last_block) {
  seen[*last_block] = 1;
}

struct Attention {
  int *length = corpus::device_ints(1), *last_block = corpus::device_ints(1), *seen = corpus::device_ints(64);

  void make_plan(cudaStream_t stream) const {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    CU(cudaStreamIsCapturing(stream, &status));
    if (!corpus::kClean && status != cudaStreamCaptureStatusNone) return;
    plan<<<1, 1, 0, stream>>>(length, last_block);  // EXPECT: missing-work warning make_plan
  }
  void step(cudaStream_t stream) const {
    lengthen<<<1, 1, 0, stream>>>(length);
    make_plan(stream);
    attend<<<1, 1, 0, stream>>>(seen, last_block);
    CU(cudaGetLastError());
  }
};

int main() {
  const cudaStream_t stream = corpus::new_stream();
  const Attention attention;
  for (int i = 0; i < 3; ++i) {
    const capgate::region marked("decode");
    attention.step(stream);
  }
  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  attention.step(stream);
  corpus::replay(corpus::end_capture(stream), stream, 3);
  int seen = 0;
  for (const int one : corpus::read_back(attention.seen, 64)) seen += one;
  if (corpus::kClean) return corpus::saw(seen == 6, "six lengths were seen");
  return corpus::saw(seen == 3, "the replays saw the length of the last eager step");
}
