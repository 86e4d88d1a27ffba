// What must not stand in a captured step, to be put there on purpose: a build with -DDSV4_PLANTED_FAULT=NAME
// calls the function of that name from the step (step.cpp), and the audit or the lint has to name its line.
// No other build includes this file. A marked line says which rule sees it: PLANTED both, PLANTED(lint) only
// the sources, PLANTED(audit) only a run.
#pragma once

#ifndef DSV4_PLANTED_FAULT
#error "this file is for builds with -DDSV4_PLANTED_FAULT=NAME"
#endif

#include <cuda_runtime_api.h>

#include "engine/cuda/step/step.h"
#include "kernels/experts.h"

// Each is called once a step, in the first layer, when the router has chosen experts.
namespace dsv4::cuda::planted {

inline void sync(const Step&, int, cudaStream_t stream) {
  cudaStreamSynchronize(stream);  // PLANTED host-sync
}

// The host looks up which expert was chosen and launches that one's part.
inline void expert_by_host(const Step& step, int batch, cudaStream_t stream) {
  const DeviceLayer& w = step.weights.layers.front();
  int chosen = 0;
  cudaMemcpyAsync(&chosen, step.a.chosen_experts, sizeof chosen, cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);  // PLANTED host-sync
  for (int expert = 0; expert < step.config.num_experts; ++expert) {
    if (expert != chosen) continue;  // PLANTED(lint) host-branch
    kernels::ExpertMatrices w2 = w.w2;
    w2.first.data = static_cast<const char*>(w2.first.data) + expert * w2.data_stride;
    kernels::experts_down(stream, {w2, step.a.expert_inner, nullptr, step.a.expert_parts, 1, 1, 1}, batch);
  }
}

// The node keeps the address of a variable that is gone by the time of the replay.
inline void pageable_copy(const Step& step, int, cudaStream_t stream) {
  const float share = 1.0f / static_cast<float>(step.config.experts_per_token);
  cudaMemcpyAsync(step.a.shares, &share, sizeof share, cudaMemcpyHostToDevice,  // PLANTED pageable-copy
                  stream);
}

// The pages of a row, from a table that the host keeps on its stack.
inline void host_page_table(const Step& step, int, cudaStream_t stream) {
  const int pages[] = {0, 1};
  cudaMemcpyAsync(step.lane.page_table, pages, sizeof pages, cudaMemcpyHostToDevice,  // PLANTED pageable-copy
                  stream);
}

inline void default_stream(const Step& step, int, cudaStream_t) {
  cudaMemsetAsync(step.a.routed, 0, sizeof(float), nullptr);  // PLANTED default-stream
}

inline void allocation(const Step&, int, cudaStream_t) {
  void* scratch = nullptr;
  cudaMalloc(&scratch, 4096);  // PLANTED device-alloc
  cudaFree(scratch);
}

struct SideStream {
  cudaStream_t stream = nullptr;
  cudaEvent_t forked = nullptr;
  SideStream() {
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&forked, cudaEventDisableTiming);
  }
};

// Made before main, not in a step: the fault is the missing join alone.
inline const SideStream side;

inline void unjoined_stream(const Step& step, int, cudaStream_t stream) {
  cudaEventRecord(side.forked, stream);
  cudaStreamWaitEvent(side.stream, side.forked);  // PLANTED(audit) unjoined-stream
  cudaMemsetAsync(step.a.routed, 0, sizeof(float), side.stream);
}

inline void synchronous_memset(const Step& step, int, cudaStream_t) {
  cudaMemset(step.a.routed, 0, sizeof(float));  // PLANTED sync-copy
}

inline void poll(const Step&, int, cudaStream_t stream) {
  while (cudaStreamQuery(stream) == cudaErrorNotReady) {  // PLANTED host-poll
  }
}

}  // namespace dsv4::cuda::planted
