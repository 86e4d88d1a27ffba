// How the kernels of the step are launched: each may be placed on the SMs while the one before it drains
// (programmatic dependent launch, compute capability 9.0). In a graph the edge between the two is a
// programmatic one.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <utility>

namespace dsv4::kernels {

// First of all in each kernel that is launched here, by all its threads: lets the next one be placed now,
// then waits until the one before has ended and what it wrote is visible. Since each waits for the one
// before, nothing overtakes anything. What no kernel of the step writes, weights above all, may be read
// before it.
__device__ inline void follow_previous() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Whether launches overlap from now on, where the device can: to measure what it is worth. Overlap is the
// default.
void set_overlap(bool wanted);
bool overlap();

// A failure is left to cudaGetLastError, as with <<<>>>. The kernel begins with follow_previous().
template <class... Parameters, class... Arguments>
void launch(cudaStream_t stream, void (*kernel)(Parameters...), dim3 grid, dim3 block,
            std::size_t shared_bytes, Arguments&&... arguments) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = overlap() ? 1 : 0;
  cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...);
}

}  // namespace dsv4::kernels
