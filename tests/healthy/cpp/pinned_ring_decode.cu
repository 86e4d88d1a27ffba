// A decode loop as it should be: inputs in a pinned ring, one graph, one event wait a step to read the token,
// the stop check on the host, the next input written while the GPU works.
#include "tests/corpus/cpp/corpus.h"

constexpr int kRing = 4, kSteps = 32, kStop = 20;

__global__ void next_token(int* token, const int* input) {
  *token = *input + 1;
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  const cudaEvent_t token_ready = corpus::new_event();
  int* input = corpus::device_ints(1);
  int* token = corpus::device_ints(1);
  int *inputs = nullptr, *tokens = nullptr;
  CU(cudaHostAlloc(&inputs, kRing * sizeof(int), cudaHostAllocDefault));
  CU(cudaHostAlloc(&tokens, kRing * sizeof(int), cudaHostAllocDefault));
  next_token<<<1, 1, 0, stream>>>(token, input);
  CU(cudaStreamSynchronize(stream));

  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  next_token<<<1, 1, 0, stream>>>(token, input);
  const cudaGraph_t graph = corpus::end_capture(stream);
  if (!graph) return corpus::saw(false, "the capture died");
  const cudaGraphExec_t exec = corpus::instantiate(graph);

  int last = 0, steps = 0;
  for (; steps < kSteps && last != kStop; ++steps) {
    const int slot = steps % kRing;
    inputs[slot] = last;
    CU(cudaMemcpyAsync(input, inputs + slot, sizeof(int), cudaMemcpyHostToDevice, stream));
    CU(cudaGraphLaunch(exec, stream));
    CU(cudaMemcpyAsync(tokens + slot, token, sizeof(int), cudaMemcpyDeviceToHost, stream));
    CU(cudaEventRecord(token_ready, stream));
    CU(cudaEventSynchronize(token_ready));
    last = tokens[slot];
  }
  return corpus::saw(steps == kStop && last == kStop, "stopped at the stop token");
}
