// A graph decodes, but each token's inputs are still allocated, pinned and freed anew between the replays.
// Public fault: GeeeekExplorer/nano-vllm#175.
// EXPECT-VERDICT: pass
#include "corpus.h"

struct Inputs {
  int* pinned = nullptr;
  int* device = nullptr;
};

static Inputs take_inputs() {
  Inputs inputs;
  CU(cudaHostAlloc(&inputs.pinned, 4096, cudaHostAllocDefault));  // EXPECT: host-alloc warning take_inputs
  CU(cudaMalloc(&inputs.device, 4096));                           // EXPECT: device-alloc warning take_inputs
  return inputs;
}

static void give_back(const Inputs& inputs) {
  CU(cudaFree(inputs.device));      // EXPECT: device-alloc warning give_back
  CU(cudaFreeHost(inputs.pinned));  // EXPECT: host-alloc warning give_back
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* token = corpus::device_ints(1);
  int* x = corpus::device_ints(1);
  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  copy_value<<<1, 1, 0, stream>>>(x, token);
  const cudaGraph_t graph = corpus::end_capture(stream);
  if (!graph) return corpus::saw(false, "the capture died");
  const cudaGraphExec_t exec = corpus::instantiate(graph);
#ifdef CLEAN
  const Inputs inputs = take_inputs();
#endif
  for (int i = 0; i < 4; ++i) {
#ifndef CLEAN
    const Inputs inputs = take_inputs();
#endif
    inputs.pinned[0] = i;
    CU(cudaMemcpyAsync(inputs.device, inputs.pinned, sizeof(int), cudaMemcpyHostToDevice, stream));
    CU(cudaMemcpyAsync(token, inputs.device, sizeof(int), cudaMemcpyDeviceToDevice, stream));
    CU(cudaGraphLaunch(exec, stream));
    CU(cudaStreamSynchronize(stream));
#ifndef CLEAN
    give_back(inputs);
#endif
  }
#ifdef CLEAN
  give_back(inputs);
#endif
  return corpus::saw(corpus::read_one(x) == 3, "four tokens decoded");
}
