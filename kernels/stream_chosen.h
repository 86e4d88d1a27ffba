// Experts of several rows as a launch of its own: the experts that are chosen are listed first, and blocks
// have equal shares of all their tiles.
#pragma once

#include "kernels/stream.h"

namespace dsv4::kernels {

constexpr int kMostPlaces = 512;  // of the choices of all rows

// False, and nothing is done, where `tasks` are not one matrix of experts in each of its slots.
bool stream_chosen(cudaStream_t stream, const StreamTasks& tasks, int batch,
                   const HyperConnectionMix& beside);

// Once at the start.
cudaError_t prepare_chosen();

}  // namespace dsv4::kernels
