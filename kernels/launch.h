// How the kernels of the step are launched: each may be placed on the SMs while the one before it drains
// (programmatic dependent launch, compute capability 9.0). In a graph the edge between the two is a
// programmatic one. What the kernels do for it stands in follow.cuh.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <utility>

namespace dsv4::kernels {

// Whether launches overlap from now on, where the device can: to measure what it is worth. Overlap is the
// default.
void set_overlap(bool wanted);
bool overlap();

// Whether the device has what stream.cu needs (compute capability 9.0).
bool streams_weights();
int multiprocessors();

// Who is told of each launch, or nobody (profile.h).
class Profile;
void set_profile(Profile* profile);
void told_of_launch(cudaStream_t stream);

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
  told_of_launch(stream);
}

}  // namespace dsv4::kernels
