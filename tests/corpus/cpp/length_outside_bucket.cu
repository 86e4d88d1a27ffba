// A long sequence is split over two kernels, a short one is not. The bucket is named after the batch size
// alone, so one name has two graphs, and each is launched for steps that are the other's.
// EXPECT-VERDICT: inconclusive
#include <capgate/capgate.h>

#include "corpus.h"

__global__ void score(int* x) {
  x[0] += 1;
}
__global__ void attend(int* x) {
  x[1] += x[0];
}
__global__ void combine(int* x) {
  x[2] += x[1];
}

static void step(int* x, bool is_long, cudaStream_t stream) {
  score<<<1, 1, 0, stream>>>(x);
  attend<<<1, 1, 0, stream>>>(x);
  if (is_long) combine<<<1, 1, 0, stream>>>(x);
  CU(cudaGetLastError());
}

static cudaGraphExec_t record(int* x, bool is_long, cudaStream_t stream) {
  const char* bucket = corpus::kClean && is_long ? "bs=1 long" : "bs=1";
  capgate_bucket(bucket);  // clang-format off
  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));  // EXPECT: topology-change warning record
  step(x, is_long, stream);  // clang-format on
  const cudaGraphExec_t exec = corpus::instantiate(corpus::end_capture(stream));
  capgate_bucket(nullptr);
  return exec;
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* x = corpus::device_ints(3);
  const cudaGraphExec_t short_one = record(x, false, stream), long_one = record(x, true, stream);
  for (int i = 0; i < 3; ++i)
    for (const cudaGraphExec_t exec : {short_one, long_one}) CU(cudaGraphLaunch(exec, stream));
  CU(cudaStreamSynchronize(stream));
  return corpus::saw(corpus::read_one(x) == 6, "both graphs ran");
}
