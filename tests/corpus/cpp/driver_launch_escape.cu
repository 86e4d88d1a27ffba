// Launch arguments are prepared once, by the driver API, with the stream of warm-up among them.
// Public faults: pytorch/helion#2817, openvdb/fvdb-core#587.
// CORPUS-BUILD: driver
#include <cuda.h>

#include "corpus.h"

struct Launch {
  CUfunction function = nullptr;
  CUstream stream = nullptr;

  void run(int* x) const {
    int value = 1;
    void* arguments[] = {&x, &value};
    // EXPECT: escaped-work error run
    const CUresult result = cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr);
    if (result != CUDA_SUCCESS) std::exit(1);
  }
};

int main() {
  const cudaStream_t warm = corpus::new_stream(), stream = corpus::new_stream();
  int* x = corpus::device_ints(2);
  Launch launch;
  cudaFunction_t function = nullptr;
  CU(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(add)));
  launch.function = function;
  launch.stream = warm;
  launch.run(x);
  add<<<1, 1, 0, warm>>>(x + 1, 1);
  CU(cudaStreamSynchronize(warm));

  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  add<<<1, 1, 0, stream>>>(x + 1, 1);
#ifdef CLEAN
  launch.stream = stream;
#endif
  launch.run(x);
  const cudaGraph_t graph = corpus::end_capture(stream);
  if (!graph) return corpus::saw(false, "the capture died");
  CU(cudaStreamSynchronize(warm));
  corpus::replay(graph, stream, 3);
  const std::vector<int> sums = corpus::read_back(x, 2);
  return corpus::kClean
             ? corpus::saw(sums == std::vector<int>({4, 4}), "both launches replay")
             : corpus::saw(sums == std::vector<int>({2, 4}), "one launch was left out of the graph");
}
