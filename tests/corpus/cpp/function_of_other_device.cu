// A launcher keeps a kernel's function for each device, as those of compiled kernels do, and asks for that of
// the current device. A question about the other device has left that one current: the function is not of the
// stream's device, CUDA refuses the launch with 400, nobody looks, and the graph lacks a kernel.
// Public faults: the class of AlexeyAB/darknet#734 and NVIDIA/DALI#3957.
// CORPUS-GPUS: 2
// CORPUS-BUILD: driver
#include <cuda.h>

#include "two_devices.h"

using corpus::Part;

class Launcher {
 public:
  explicit Launcher(const void* symbol) {
    cudaKernel_t kernel = nullptr;
    CU(cudaGetKernel(&kernel, symbol));
    for (int device = 0; device < 2; ++device) {
      const corpus::OnDevice current(device);
      if (cuKernelGetFunction(&functions_[device], reinterpret_cast<CUkernel>(kernel)) != CUDA_SUCCESS)
        std::exit(corpus::saw(false, "the kernel's function"));
    }
  }

  CUresult run(const Part& part, int value) const {
    int device = part.device;
#ifndef CLEAN
    CU(cudaGetDevice(&device));
#endif
    int* x = part.x;
    void* arguments[] = {&x, &value};
    // EXPECT: wrong-device error run
    return cuLaunchKernel(functions_[device], 1, 1, 1, 1, 1, 1, 0, part.stream, arguments, nullptr);
  }

 private:
  CUfunction functions_[2] = {};
};

static bool has_room(int device) {
  CU(cudaSetDevice(device));
  int blocks = 0;
  CU(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 1, 0));
  return blocks > 0;
}

static void step(const Launcher& launcher, const Part& part) {
  add<<<1, 1, 0, part.stream>>>(part.x, 1);
  if (!has_room(1)) std::printf("no room on device 1\n");
  const CUresult result = launcher.run(part, 10);
  if (result != CUDA_SUCCESS) std::printf("the step: error %d\n", static_cast<int>(result));
  CU(cudaSetDevice(0));
}

int main() {
  corpus::need_two_devices();
  const Part first = corpus::new_part(0), second = corpus::new_part(1);
  const Launcher launcher(reinterpret_cast<const void*>(add));
  for (const auto& part : {first, second}) {
    const corpus::OnDevice current(part.device);
    if (launcher.run(part, 0) != CUDA_SUCCESS) return corpus::saw(false, "the warm-up");
    corpus::wait_for(part);
  }

  CU(cudaStreamBeginCapture(first.stream, cudaStreamCaptureModeGlobal));
  step(launcher, first);
  const cudaGraph_t graph = corpus::end_capture(first.stream);
  if (!graph) return corpus::saw(false, "the capture died");
  corpus::replay(graph, first.stream, 3);
  const int sum = corpus::read_one(first.x);
  return corpus::kClean ? corpus::saw(sum == 33, "both kernels in three replays")
                        : corpus::saw(sum == 3, "the second kernel in no replay");
}
