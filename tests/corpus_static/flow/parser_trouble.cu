// A region whose begin, end or inside the parser did not understand is not analysed; what it did not understand
// elsewhere is worth a line and no more.
// OPTIONS: --parse-errors
#include <cuda_runtime.h>

#include <capgate/capgate.h>

__global__ void kernel(float* x) {}

void inside(cudaStream_t s, float* x) {  // EXPECT: not-analysed
  cudaGraph_t graph;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  kernel<<<1, 1, 0, s>>>(x, unknown_to_all);
  cudaStreamEndCapture(s, &graph);
}

void behind_a_check(cudaStream_t s, float* x) {  // EXPECT: not-analysed
  cudaGraph_t graph;
  if (cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal) != cudaSuccess) return;
  x = ;
  cudaStreamEndCapture(s, &graph);
}

void at_the_end_of_a_loop(cudaStream_t s, float* x, int n) {  // EXPECT: not-analysed
  cudaGraph_t graph;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  for (int i = 0; i < n; ++i) {
    kernel<<<1, 1, 0, s>>>(x);
    x = ;
  }
  cudaStreamEndCapture(s, &graph);
}

// Two troubles: the second one is inside.
void twice(cudaStream_t s, float* x) {  // EXPECT: not-analysed
  cudaGraph_t graph;
  x = ;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  x = ;
  cudaStreamEndCapture(s, &graph);
}

void left_open(cudaStream_t s, float* x) {  // EXPECT: not-analysed
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  x = ;
}

template <class F>
void captured(cudaStream_t s, F&& f) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  f();
  cudaStreamEndCapture(s, &graph);
}
void in_a_lambda(cudaStream_t s, float* x) {  // EXPECT: not-analysed:note
  captured(s, [&] {                           // EXPECT: not-analysed
    x = ;
  });
}

void callee(float* x) {  // EXPECT: not-analysed
  x = ;
}
void by_a_call(cudaStream_t s, float* x) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  callee(x);
  cudaStreamEndCapture(s, &graph);
}

CAPGATE_REGION void marked(float* x) {  // EXPECT: not-analysed
  x = ;
}

// Before the begin and after the end: the region was read as a whole.
void before(cudaStream_t s, float* x) {  // EXPECT: not-analysed:note
  cudaGraph_t graph;
  x = ;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  kernel<<<1, 1, 0, s>>>(x);
  cudaStreamEndCapture(s, &graph);
}
void after(cudaStream_t s, float* x) {  // EXPECT: not-analysed:note
  cudaGraph_t graph;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  kernel<<<1, 1, 0, s>>>(x);
  cudaStreamEndCapture(s, &graph);
  x = ;
}
void nothing_captured(float* x) {  // EXPECT: not-analysed:note
  x = ;
}
__global__ void on_the_device(float* x) {
  x = ;
}
