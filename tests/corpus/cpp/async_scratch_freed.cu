// Metadata of a step lives in a stream-ordered allocation of that step: the graph of the first step keeps the
// address after cudaFreeAsync, and the pool hands it out again. Public fault: kekzl/imp#1648.
#include "corpus.h"

static int* make_metadata(int value, cudaStream_t stream) {
  int* metadata = nullptr;
  CU(cudaMallocAsync(&metadata, 1 << 20, stream));
  CU(cudaMemsetAsync(metadata, 0, 1 << 20, stream));
  add<<<1, 1, 0, stream>>>(metadata, value);
  return metadata;
}

static void drop_metadata(int* metadata, cudaStream_t stream) {
  CU(cudaFreeAsync(metadata, stream));  // EXPECT: freed-memory error drop_metadata
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* x = corpus::device_ints(1);
  int* metadata = make_metadata(5, stream);
  CU(cudaStreamSynchronize(stream));
  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  copy_value<<<1, 1, 0, stream>>>(x, metadata);
  const cudaGraphExec_t exec = corpus::instantiate(corpus::end_capture(stream));
#ifndef CLEAN
  drop_metadata(metadata, stream);
#endif
  int* next = nullptr;
  CU(cudaMallocAsync(&next, 1 << 20, stream));
  CU(cudaMemsetAsync(next, 0, 1 << 20, stream));
  CU(cudaGraphLaunch(exec, stream));
  CU(cudaStreamSynchronize(stream));
  const int value = corpus::read_one(x);
#ifdef CLEAN
  drop_metadata(metadata, stream);
  return corpus::saw(value == 5, "the step's own metadata");
#else
  return corpus::saw(next != metadata || value == 0, "the replay read the next step's metadata");
#endif
}
