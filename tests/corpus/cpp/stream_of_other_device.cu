// A question about the other device leaves it current, and the launch that follows goes into a stream that is
// not its own. CUDA refuses it with 400; nobody looks, and the graph lacks a kernel.
// Public faults: the class of AlexeyAB/darknet#734 and NVIDIA/DALI#3957.
// CORPUS-GPUS: 2
#include "two_devices.h"

static int blocks_on(int device) {
#ifdef CLEAN
  const corpus::OnDevice current(device);
#else
  CU(cudaSetDevice(device));
#endif
  int blocks = 0;
  CU(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 1, 0));
  return blocks;
}

static void step(cudaStream_t stream, int* x) {
  add<<<1, 1, 0, stream>>>(x, 1);
  const int blocks = blocks_on(1);
  if (blocks == 0) std::printf("no room on device 1\n");
  add<<<1, 1, 0, stream>>>(x, 10);  // EXPECT: wrong-device error step
  const cudaError_t result = cudaGetLastError();
  if (result != cudaSuccess) std::printf("the step: %s\n", cudaGetErrorString(result));
  CU(cudaSetDevice(0));
}

int main() {
  corpus::need_two_devices();
  const corpus::Part first = corpus::new_part(0), second = corpus::new_part(1);
  add<<<1, 1, 0, first.stream>>>(first.x, 0);
  corpus::wait_for(first);
  if (blocks_on(second.device) == 0) return corpus::saw(false, "room on device 1");  // its code is loaded now
  CU(cudaSetDevice(0));

  CU(cudaStreamBeginCapture(first.stream, cudaStreamCaptureModeGlobal));
  step(first.stream, first.x);
  const cudaGraph_t graph = corpus::end_capture(first.stream);
  if (!graph) return corpus::saw(!corpus::kClean, "the capture died of the refused launch");
  corpus::replay(graph, first.stream, 3);
  const int sum = corpus::read_one(first.x);
  return corpus::kClean ? corpus::saw(sum == 33, "both kernels in three replays")
                        : corpus::saw(sum == 3, "the second kernel in no replay");
}
