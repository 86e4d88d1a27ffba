// A step for device 0 is captured by code that has device 1 current, begin and end of the capture included: a
// kernel, a copy and a memset go where their stream is, whichever device is current, and a copy may reach the
// other device's memory.
//
// CORPUS-GPUS: 2
// CORPUS-BUILD: driver
#include <cuda.h>

#include "tests/corpus/cpp/two_devices.h"

int main() {
  corpus::need_two_devices();
  const corpus::Part first = corpus::new_part(0), second = corpus::new_part(1);
  int* scratch = corpus::device_ints(2);  // on device 0
  cudaFunction_t function = nullptr;
  CU(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(add)));
  for (const auto& part : {first, second}) {
    const corpus::OnDevice current(part.device);
    add<<<1, 1, 0, part.stream>>>(part.x, 1);
    corpus::wait_for(part);
  }

  cudaGraph_t graph = nullptr;
  {
    const corpus::OnDevice current(second.device);
    CU(cudaStreamBeginCapture(first.stream, cudaStreamCaptureModeGlobal));
    add<<<1, 1, 0, first.stream>>>(first.x, 1);
    int* x = first.x;
    int value = 10;
    void* arguments[] = {&x, &value};
    const CUresult launched = cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, first.stream, arguments, nullptr);
    if (launched != CUDA_SUCCESS) return corpus::saw(false, "the driver's launch");
    CU(cudaMemcpyAsync(scratch, first.x, sizeof(int), cudaMemcpyDeviceToDevice, first.stream));
    CU(cudaMemsetAsync(scratch + 1, 0, sizeof(int), first.stream));
    CU(cudaMemcpyAsync(second.x, first.x, sizeof(int), cudaMemcpyDefault, first.stream));
    graph = corpus::end_capture(first.stream);
  }
  if (!graph) return corpus::saw(false, "the capture died");
  corpus::replay(graph, first.stream, 3);
  const bool right = corpus::read_one(first.x) == 34 && corpus::read_one(second.x) == 34 &&
                     corpus::read_back(scratch, 2) == std::vector<int>({34, 0});
  return corpus::saw(right, "three replays of what was captured under another current device");
}
