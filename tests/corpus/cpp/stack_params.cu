// Launch parameters are uploaded from an array on the stack inside the capture; by the time of the replay
// that stack belongs to other calls.
// Public fault: PaddlePaddle/Paddle#78568.
#include "corpus.h"

constexpr int kParams = 8;

__global__ void sum_params(int* out, const int* params) {
  int sum = 0;
  for (int i = 0; i < kParams; ++i) sum += params[i];
  *out = sum;
}

#ifdef CLEAN
struct Params {
  int value[kParams];
};
__global__ void sum_by_value(int* out, Params params) {
  int sum = 0;
  for (int i = 0; i < kParams; ++i) sum += params.value[i];
  *out = sum;
}
#endif

[[gnu::noinline]] static void launch(int* out, [[maybe_unused]] int* params, cudaStream_t stream) {
#ifdef CLEAN
  sum_by_value<<<1, 1, 0, stream>>>(
      out, Params{{1, 2, 3, 4, 5, 6, 7, 8}});  // by value: the node keeps its own copy
#else
  int local[kParams] = {1, 2, 3, 4, 5, 6, 7, 8};
  // EXPECT: pageable-copy error launch
  // EXPECT-MAY: host-pointer error
  CU(cudaMemcpyAsync(params, local, sizeof local, cudaMemcpyHostToDevice, stream));
  sum_params<<<1, 1, 0, stream>>>(out, params);
#endif
}

[[gnu::noinline]] static int use_the_stack(int seed) {
  volatile int other[64];
  for (int i = 0; i < 64; ++i) other[i] = seed + i;
  return other[seed % 64];
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* params = corpus::device_ints(kParams);
  int* out = corpus::device_ints(1);
  sum_params<<<1, 1, 0, stream>>>(out, params);
  launch(out, params, stream);
  CU(cudaStreamSynchronize(stream));

  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  launch(out, params, stream);
  const cudaGraph_t graph = corpus::end_capture(stream);
  if (!graph) return corpus::saw(false, "the capture died");
  use_the_stack(1000);
  corpus::replay(graph, stream, 2);
  const int sum = corpus::read_one(out);
  return corpus::kClean ? corpus::saw(sum == 36, "the parameters are in the node")
                        : corpus::saw(sum != 36, "the replay read another call's stack");
}
