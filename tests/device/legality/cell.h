// One cell of the legality table: one call, made while a capture is open, in one capture mode, from the
// capturing thread or from another, with a blocking or a non-blocking capture stream.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <string>
#include <vector>

namespace legality {

// What a call may use. Everything is made before the capture begins.
struct Things {
  cudaStream_t captured = nullptr;
  cudaStream_t other = nullptr;  // not blocking, not captured
  cudaEvent_t before = nullptr;  // recorded on `other`, and done, before the capture
  cudaEvent_t before2 = nullptr;
  cudaEvent_t inside = nullptr;  // recorded on `captured` after the capture's first kernel
  cudaEvent_t fresh = nullptr;   // never recorded
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  int* device = nullptr;  // 2 MB
  int* device2 = nullptr;
  int* pinned = nullptr;    // 2 MB
  int* pageable = nullptr;  // 2 MB, from the heap
  void* spare = nullptr;    // what prepare() made for this call alone
  void* spare2 = nullptr;
};

// A call's result: cudaError_t or CUresult, whose values agree for everything about captures.
using Run = int (*)(Things&);

struct Call {
  const char* family;
  const char* name;
  Run run;
  Run prepare = nullptr;  // before the capture, on the capturing thread
};

// The table's rows, a file a family.
std::vector<Call> synchronizing_calls();
std::vector<Call> memory_calls();
std::vector<Call> copy_calls();
std::vector<Call> work_calls();
std::vector<Call> object_calls();

__global__ void touch(int* x);

constexpr size_t kBlock = 2 << 20;

}  // namespace legality
