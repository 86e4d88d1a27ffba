// How the kernels of the step are launched: each may be placed on the SMs while the one before it drains
// (programmatic dependent launch, compute capability 9.0). In a graph the edge between the two is a
// programmatic one.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <utility>

namespace dsv4::kernels {

// Every kernel that is launched here calls both, by all its threads: first of all let_next_start(), so that
// the next one may be placed; then wait_for_previous(), which returns once the one before has ended and what
// it wrote is visible. Since each waits for the one before, nothing overtakes anything. Several may wait at
// once, one behind the other, so that before its wait a kernel reads only what none but the last kernel of a
// step writes: weights, ids, positions; never what some kernel further up left.
__device__ inline void let_next_start() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
__device__ inline void wait_for_previous() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Whether launches overlap from now on, where the device can: to measure what it is worth. Overlap is the
// default.
void set_overlap(bool wanted);
bool overlap();

enum class Order {
  kOverlap,       // placed while the one before drains
  kAfterPrevious  // once all before has ended: a step's first kernel, behind the one that advances positions
};

// A failure is left to cudaGetLastError, as with <<<>>>.
template <Order order = Order::kOverlap, class... Parameters, class... Arguments>
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
  config.numAttrs = order == Order::kOverlap && overlap() ? 1 : 0;
  cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...);
}

}  // namespace dsv4::kernels
