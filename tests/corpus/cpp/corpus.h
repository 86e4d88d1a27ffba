// What every program of the corpus shares: checked calls, a device array, replays, and the line it says of
// itself.
//
// A program shows its fault and still ends with 0: a capture that must die has died, a replay that must be
// wrong is wrong. Anything else is a 1, so that an expectation is never met by accident.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

// A call that has to work; one that fails ends the program with its place and reason.
#define CU(call) corpus::require((call), #call, __FILE__, __LINE__)

namespace corpus {

#ifdef CLEAN
inline constexpr bool kClean = true;
#else
inline constexpr bool kClean = false;
#endif

inline void require(cudaError_t result, const char* call, const char* file, int line) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "%s:%d: %s: %s\n", file, line, call, cudaGetErrorString(result));
  std::exit(1);
}

// `count` ints on the device, zero at first. Lives as long as the program: tear-down is not what the corpus
// is about.
inline int* device_ints(int count) {
  int* data = nullptr;
  CU(cudaMalloc(&data, count * sizeof(int)));
  CU(cudaMemset(data, 0, count * sizeof(int)));
  CU(cudaDeviceSynchronize());
  return data;
}

inline std::vector<int> read_back(const int* data, int count) {
  std::vector<int> host(count);
  CU(cudaMemcpy(host.data(), data, count * sizeof(int), cudaMemcpyDeviceToHost));
  return host;
}

inline int read_one(const int* data) {
  return read_back(data, 1)[0];
}

// Not blocking: the legacy default stream then neither waits for it nor breaks a capture on it.
inline cudaStream_t new_stream() {
  cudaStream_t stream = nullptr;
  CU(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return stream;
}

inline cudaEvent_t new_event() {
  cudaEvent_t event = nullptr;
  CU(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  return event;
}

// Ends the capture on `stream`; null when the capture died.
inline cudaGraph_t end_capture(cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  const cudaError_t result = cudaStreamEndCapture(stream, &graph);
  if (result != cudaSuccess) std::printf("the capture ended with: %s\n", cudaGetErrorString(result));
  (void)cudaGetLastError();
  return result == cudaSuccess ? graph : nullptr;
}

inline cudaGraphExec_t instantiate(cudaGraph_t graph) {
  cudaGraphExec_t exec = nullptr;
  CU(cudaGraphInstantiate(&exec, graph, 0));
  return exec;
}

// Launches `graph` `times` times on `stream` without a wait in between, then waits once.
inline void replay(cudaGraph_t graph, cudaStream_t stream, int times) {
  const cudaGraphExec_t exec = instantiate(graph);
  for (int i = 0; i < times; ++i) CU(cudaGraphLaunch(exec, stream));
  CU(cudaStreamSynchronize(stream));
}

// The program's last line and its exit code.
inline int saw(bool as_meant, const char* what) {
  std::printf("%s: %s\n", as_meant ? "as meant" : "NOT as meant", what);
  return as_meant ? 0 : 1;
}

// The exit code of a program whose faulty twin loses its capture: `right` is the clean twin's own check.
inline int capture_dies(cudaGraph_t graph, bool right) {
  if (kClean) return saw(graph != nullptr && right, "captured, replayed, right result");
  return saw(graph == nullptr, "the capture died");
}

}  // namespace corpus

// One thread, so that a sum is easy to foretell.
__global__ void add(int* x, int value) {
  *x += value;
}
__global__ void copy_value(int* to, const int* from) {
  *to = *from;
}
