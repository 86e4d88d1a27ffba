// A kernel that is placed while the one before it drains (launch.h): what it may do before that one has
// ended.
#pragma once

namespace dsv4::kernels {

// Every kernel that launch() starts calls both, by all its threads: first of all let_next_start(), so that
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

}  // namespace dsv4::kernels
