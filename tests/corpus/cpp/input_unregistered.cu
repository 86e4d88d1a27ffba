// Host memory is registered for the capture and unregistered when the function that captured returns: the
// graph's copy reads it as pinned memory at each replay.
#include "corpus.h"

constexpr size_t kBytes = 1 << 16;

static cudaGraphExec_t capture_upload(int* x, int* host, cudaStream_t stream) {
  CU(cudaHostRegister(host, kBytes, cudaHostRegisterDefault));
  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CU(cudaMemcpyAsync(x, host, kBytes, cudaMemcpyHostToDevice, stream));
  const cudaGraphExec_t exec = corpus::instantiate(corpus::end_capture(stream));
#ifndef CLEAN
  CU(cudaHostUnregister(host));  // EXPECT: freed-memory error capture_upload
#endif
  return exec;
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* x = corpus::device_ints(kBytes / sizeof(int));
  void* memory = nullptr;
  if (posix_memalign(&memory, 4096, kBytes) != 0) return 1;
  int* host = static_cast<int*>(memory);
  host[0] = 4;
  const cudaGraphExec_t exec = capture_upload(x, host, stream);
  CU(cudaGraphLaunch(exec, stream));
  const cudaError_t end = cudaStreamSynchronize(stream);
  (void)cudaGetLastError();
  if (!corpus::kClean) return corpus::saw(true, cudaGetErrorString(end));
  return corpus::saw(end == cudaSuccess && corpus::read_one(x) == 4, "uploaded from registered memory");
}
