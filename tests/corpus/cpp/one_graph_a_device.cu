// One graph a device, the second behind the first. The wait for the first graph's event is made inside the
// second capture, where it is a dependency on what is not in it: 905. Between the launches it is right.
// Public fault: the class of sgl-project/sglang#29166, over two devices.
// CORPUS-GPUS: 2
#include "two_devices.h"

using corpus::Part;

static void first_half(const Part& part) {
  add<<<1, 1, 0, part.stream>>>(part.x, 1);
}

static void second_half(const Part& first, const Part& part) {
  (void)first;
#ifndef CLEAN
  // EXPECT: foreign-event error second_half
  const cudaError_t result = cudaStreamWaitEvent(part.stream, first.event, 0);
  if (result != cudaSuccess) std::printf("waiting for the first half: %s\n", cudaGetErrorString(result));
#endif
  add<<<1, 1, 0, part.stream>>>(part.x, 1);
}

int main() {
  corpus::need_two_devices();
  const Part first = corpus::new_part(0), second = corpus::new_part(1);

  CU(cudaStreamBeginCapture(first.stream, cudaStreamCaptureModeGlobal));
  first_half(first);
  const cudaGraph_t graph = corpus::end_capture(first.stream);
  if (!graph) return corpus::saw(false, "the first capture died");
  const cudaGraphExec_t exec = corpus::instantiate(graph);
  CU(cudaGraphLaunch(exec, first.stream));
  CU(cudaEventRecord(first.event, first.stream));
  corpus::wait_for(first);

  cudaGraph_t other = nullptr;
  {
    const corpus::OnDevice current(second.device);
    CU(cudaStreamBeginCapture(second.stream, cudaStreamCaptureModeGlobal));
    second_half(first, second);
    other = corpus::end_capture(second.stream);
  }
  if (other) {
    cudaGraphExec_t behind = nullptr;
    {
      const corpus::OnDevice current(second.device);
      behind = corpus::instantiate(other);
    }
    for (int step = 0; step < 3; ++step) {
      CU(cudaGraphLaunch(exec, first.stream));
      corpus::order(first, second);
      {
        const corpus::OnDevice current(second.device);
        CU(cudaGraphLaunch(behind, second.stream));
      }
      corpus::order(second, first);
    }
    corpus::wait_for(first);
  }
  return corpus::capture_dies(other, corpus::read_one(first.x) == 4 && corpus::read_one(second.x) == 3);
}
