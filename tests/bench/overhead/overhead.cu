// What the audit costs, seen from the program: overhead launch|replay|region|step. Prints one JSON line with
// the time of one iteration in microseconds and the program's resident memory.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "detector/include/capgate/capgate.h"

#define CHECK(call)                                                                                 \
  do {                                                                                              \
    const cudaError_t result = (call);                                                              \
    if (result != cudaSuccess) {                                                                    \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(result)); \
      std::exit(2);                                                                                 \
    }                                                                                               \
  } while (0)

namespace {

__global__ void nothing() {}

// About `cycles` GPU cycles of work, as a decode kernel has.
__global__ void work(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

long resident_kb() {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line))
    if (line.rfind("VmRSS:", 0) == 0) return std::atol(line.c_str() + 6);
  return 0;
}

// What else the machine does only ever adds to a round; the lower quartile leaves it out.
double quartile(std::vector<double>& values) {
  const auto at = values.begin() + values.size() / 4;
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

constexpr int kKernels = 500;

// Kernel launches, one after another, with the queue kept short so that its limit is not what is measured.
double launches(cudaStream_t stream) {
  constexpr int kRounds = 100;
  std::vector<double> rounds;
  for (int round = 0; round < kRounds; ++round) {
    const double start = now_us();
    for (int i = 0; i < kKernels; ++i) nothing<<<1, 32, 0, stream>>>();
    if (round >= 10) rounds.push_back(now_us() - start);
    CHECK(cudaStreamSynchronize(stream));
  }
  return quartile(rounds) / kKernels;
}

double replays(cudaStream_t stream) {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < kKernels; ++i) nothing<<<1, 32, 0, stream>>>();
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  constexpr int kRounds = 400;
  for (int i = 0; i < 20; ++i) CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  const double start = now_us();
  for (int i = 0; i < kRounds; ++i) CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  return (now_us() - start) / kRounds;
}

// A decode step: launches, an event, a pinned copy, one wait. cycles: of each kernel.
double steps(cudaStream_t stream, long long cycles, bool marked) {
  float *device, *pinned;
  cudaEvent_t event;
  CHECK(cudaMalloc(&device, 4096));
  CHECK(cudaMallocHost(&pinned, 4096));
  CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  constexpr int kRounds = 60;
  std::vector<double> rounds;
  for (int round = 0; round < kRounds; ++round) {
    const double start = now_us();
    if (marked) capgate_region_begin("step");
    for (int i = 0; i < kKernels; ++i) {
      if (cycles != 0) {
        work<<<1, 32, 0, stream>>>(cycles);
      } else {
        nothing<<<1, 32, 0, stream>>>();
      }
    }
    CHECK(cudaMemcpyAsync(pinned, device, 64, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaEventRecord(event, stream));
    CHECK(cudaStreamSynchronize(stream));
    if (marked) capgate_region_end();
    if (round >= 10) rounds.push_back(now_us() - start);
  }
  return quartile(rounds);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  double us = 0;
  if (mode == "launch") {
    us = launches(stream);
  } else if (mode == "replay") {
    us = replays(stream);
  } else if (mode == "region") {
    us = steps(stream, 0, true);
  } else if (mode == "step") {
    us = steps(stream, 9000, true);
  } else {
    std::fprintf(stderr, "usage: overhead launch|replay|region|step\n");
    return 2;
  }
  std::printf("{\"us\": %.4f, \"rss_kb\": %ld}\n", us, resident_kb());
  return 0;
}
