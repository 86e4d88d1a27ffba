// Each request is captured anew and the executable updated from it (cudaGraphExecUpdate). What the last
// capture uses must stay until the next update; what the ones before it used may go.
#include "corpus.h"

static cudaGraph_t capture_request(int* x, const int* input, cudaStream_t stream) {
  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  copy_value<<<1, 1, 0, stream>>>(x, input);
  return corpus::end_capture(stream);
}

static int* make_input(int value) {
  int* input = nullptr;
  CU(cudaMalloc(&input, 1 << 20));
  CU(cudaMemcpy(input, &value, sizeof(value), cudaMemcpyHostToDevice));
  return input;
}

static void drop_input(int* input) {
  CU(cudaFree(input));  // EXPECT: freed-memory error drop_input
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* x = corpus::device_ints(1);
  int *first = make_input(1), *second = make_input(2);
  const cudaGraph_t graph = capture_request(x, first, stream), next = capture_request(x, second, stream);
  const cudaGraphExec_t exec = corpus::instantiate(graph);
  CU(cudaGraphLaunch(exec, stream));
  CU(cudaStreamSynchronize(stream));
  cudaGraphExecUpdateResultInfo info{};
  CU(cudaGraphExecUpdate(exec, next, &info));
#ifdef CLEAN
  drop_input(first);
#else
  drop_input(second);
#endif
  int* tenant = corpus::device_ints((1 << 20) / sizeof(int));
  CU(cudaGraphLaunch(exec, stream));
  CU(cudaStreamSynchronize(stream));
  const int value = corpus::read_one(x);
  CU(cudaFree(tenant));
  if (!corpus::kClean)
    return corpus::saw(true, value == 2 ? "nobody was there yet" : "it read somebody else's block");
  return corpus::saw(value == 2, "the last request's input");
}
