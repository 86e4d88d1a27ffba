// verify_replay on captured graphs: a step that is right, and the same with one fault each.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "detector/include/capgate/verify.h"

#define CU(call)                                                                           \
  do {                                                                                     \
    const cudaError_t error = (call);                                                      \
    if (error != cudaSuccess) {                                                            \
      std::printf("%s:%d %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error)); \
      std::exit(1);                                                                        \
    }                                                                                      \
  } while (0)

namespace {

constexpr int kWidth = 256, kLongest = 16;

__global__ void project(const float* x, const float* weights, float scale, float* hidden) {
  hidden[threadIdx.x] = x[threadIdx.x] * weights[threadIdx.x] * scale;
}
__global__ void attend(const float* hidden, float* cache, int* position, int frozen, float* logits) {
  const int at = frozen < 0 ? *position : frozen;
  cache[at * kWidth + threadIdx.x] = hidden[threadIdx.x];
  float sum = 0;
  for (int i = 0; i <= at; ++i) sum += cache[i * kWidth + threadIdx.x];
  logits[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) *position = at + 1;
}
__global__ void square(const float* x, float* y) {
  y[threadIdx.x] = x[threadIdx.x] * x[threadIdx.x];
}

float* floats(int count) {
  float* at = nullptr;
  CU(cudaMalloc(&at, count * sizeof(float)));
  CU(cudaMemset(at, 0, count * sizeof(float)));
  return at;
}

struct Step {
  float *x = floats(kWidth), *weights = floats(kWidth), *hidden = floats(kWidth),
        *cache = floats(kLongest * kWidth), *logits = floats(kWidth), *squares = floats(kWidth);
  int* position = reinterpret_cast<int*>(floats(1));
  cudaStream_t stream, side;
  Step() {
    CU(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CU(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
    load(weights, 7);
  }
  static void load(float* to, int seed) {
    float values[kWidth];
    for (int i = 0; i < kWidth; ++i) values[i] = static_cast<float>((i * 37 + seed * 11) % 64) / 16;
    CU(cudaMemcpy(to, values, sizeof values, cudaMemcpyHostToDevice));
  }
  void run(const float* used_weights, float scale = 2, int frozen = -1, bool loses_work = false) const {
    project<<<1, kWidth, 0, stream>>>(x, used_weights, scale, hidden);
    attend<<<1, kWidth, 0, stream>>>(hidden, cache, position, frozen, logits);
    square<<<1, kWidth, 0, loses_work ? side : stream>>>(x, squares);
  }
  template <class Captured>
  cudaGraphExec_t capture(Captured captured) const {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    captured();
    CU(cudaStreamEndCapture(stream, &graph));
    CU(cudaGraphInstantiate(&exec, graph, 0));
    return exec;
  }
};

}  // namespace

// The argument names the fault of the graph; the exit code is 0 when verify_replay saw it, and nothing where
// there is none.
int main(int argc, char** argv) {
  const std::string fault = argc > 1 ? argv[1] : "none";
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return std::puts("no GPU"), 77;
  const Step step;
  float* scratch = floats(kWidth);
  Step::load(scratch, 7);
  cudaGraphExec_t exec = step.capture([&] {
    if (fault == "frozen-scalar") return step.run(step.weights, 3);
    if (fault == "frozen-position") return step.run(step.weights, 2, 0);
    if (fault == "missing-work") return step.run(step.weights, 2, -1, true);
    if (fault == "freed-memory") return step.run(scratch);
    step.run(step.weights);
  });
  CU(cudaDeviceSynchronize());
  // A larger step takes the freed block's place later, as free memory that is filled.
  if (fault == "freed-memory") CU(cudaFree(scratch));
  if (fault == "not-loaded")
    exec = step.capture([&] { square<<<1, kWidth, 0, step.stream>>>(step.x, step.squares); });

  capgate::replay_check check;
  check.name = "decode";
  check.eager = [&] { step.run(step.weights); };
  check.replay = [&] { CU(cudaGraphLaunch(exec, step.stream)); };
  check.load = [&](int set, int at) { Step::load(step.x, 3 * set + at); };
  check.outputs = {capgate::of("logits", step.logits, kWidth), capgate::of("squares", step.squares, kWidth)};
  check.state = {capgate::of("cache", step.cache, kLongest * kWidth),
                 capgate::of("position", step.position, 1)};
  check.steps = 4;
  check.inputs = 3;
  const capgate::replay_result result = capgate::verify_replay(check);
  std::puts(result.text().c_str());
  const char* expected = fault == "none"              ? nullptr
                         : fault == "frozen-position" ? "logits"
                         : fault == "missing-work"    ? "squares"
                                                      : "logits";
  if (!expected) return result.ok() && result.refilled ? 0 : 1;
  return !result.mismatches.empty() && result.nothing.empty() && result.mismatches[0].what == expected ? 0
                                                                                                       : 1;
}
