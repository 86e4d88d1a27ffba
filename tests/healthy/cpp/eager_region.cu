// A marked step that is never captured: kernels on the legacy default stream and on its own, scratch made in
// the first pass and kept, branches and grids by what the host knows. Ready to be captured, as far as an
// eager run can tell.
#include <capgate/capgate.h>

#include <cstdlib>

#include "tests/corpus/cpp/corpus.h"

struct Step {
  cudaStream_t stream = corpus::new_stream();
  cudaEvent_t done = corpus::new_event();
  int* x = corpus::device_ints(1);
  int* scratch = nullptr;

  void run(int batch, int position) {
    const capgate::region region("decode");
    if (!scratch) CU(cudaMalloc(&scratch, 1 << 16));
    if (batch > 2) add<<<1, 1>>>(x, 1);
    for (int i = 0; i < batch; ++i) add<<<1, 1, 0, stream>>>(scratch, position);
    CU(cudaEventRecord(done, stream));
    CU(cudaStreamWaitEvent(cudaStreamLegacy, done, 0));
    int device = 0;
    cudaPointerAttributes attributes;
    CU(cudaGetDevice(&device));
    CU(cudaPointerGetAttributes(&attributes, scratch));
  }
};

int main() {
  Step step;
  for (int position = 0; position < 6; ++position) {
    step.run(position % 2 ? 4 : 2, position);
    CU(cudaDeviceSynchronize());
  }
  return corpus::saw(corpus::read_one(step.x) == 3, "six eager steps");
}
