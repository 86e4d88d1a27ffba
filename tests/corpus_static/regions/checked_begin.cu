// A begin behind a macro that checks it, in a condition of its own: what follows may be in the capture.
#include <cuda_runtime.h>

#include <cstdlib>

[[noreturn]] void refuse(cudaError_t error);
void report(cudaError_t) {}
void refuse(cudaError_t) {
  std::abort();
}

#define CHECK(call)                                   \
  do {                                                \
    const cudaError_t error = (call);                 \
    if (error != cudaSuccess) refuse(error);          \
  } while (0)
#define NOTE(call)                                    \
  do {                                                \
    const cudaError_t error = (call);                 \
    if (error != cudaSuccess) report(error);          \
  } while (0)

void conditional(cudaStream_t stream, bool graph) {
  cudaGraph_t made;
  if (graph) {
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  }
  cudaStreamSynchronize(stream);  // EXPECT: host-sync
  if (graph) {
    CHECK(cudaStreamEndCapture(stream, &made));
  }
  cudaStreamSynchronize(stream);  // CLEAN: host-sync
}

void noted(cudaStream_t stream, bool graph) {
  cudaGraph_t made;
  if (graph) NOTE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  cudaStreamSynchronize(stream);  // EXPECT: host-sync
  if (graph) NOTE(cudaStreamEndCapture(stream, &made));
  cudaStreamSynchronize(stream);  // CLEAN: host-sync
}

void straight(cudaStream_t stream) {
  cudaGraph_t made;
  NOTE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  cudaStreamSynchronize(stream);  // EXPECT: host-sync
  NOTE(cudaStreamEndCapture(stream, &made));
}
