// NVTX ranges that the command line names.
// OPTIONS: --region=decode* --region=step
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <nvtx3/nvtx3.hpp>
#include <string>

__global__ void work(int*);
void wait(cudaStream_t s) {
  cudaStreamSynchronize(s);  // EXPECT: host-sync
}
void wait_elsewhere(cudaStream_t s) {
  cudaStreamSynchronize(s);  // CLEAN: host-sync
}

void pushed(cudaStream_t s, int* d) {
  cudaStreamSynchronize(s);  // CLEAN: host-sync
  nvtxRangePushA("decode step");
  cudaStreamSynchronize(s);  // EXPECT: host-sync
  work<<<1, 1>>>(d);  // CLEAN: default-stream
  wait(s);
  nvtxRangePop();
  cudaStreamSynchronize(s);  // CLEAN: host-sync
}

// Ranges within the range; the macro is the function's other name.
void nested(cudaStream_t s) {
  nvtxRangePushA("request");
  cudaStreamSynchronize(s);  // CLEAN: host-sync
  nvtxRangePush("step");
  nvtxRangePush("attention");
  cudaStreamSynchronize(s);  // EXPECT: host-sync
  nvtxRangePop();
  cudaStreamQuery(s);        // EXPECT: host-poll
  nvtxRangePop();
  cudaStreamSynchronize(s);  // CLEAN: host-sync
  nvtxRangePop();
  cudaStreamSynchronize(s);  // CLEAN: host-sync
}

void scoped(cudaStream_t s, bool early) {
  {
    nvtx3::scoped_range range{"decode"};
    if (early) return;
    cudaStreamSynchronize(s);  // EXPECT: host-sync
    const nvtx3::scoped_range inner("attention");
    cudaStreamSynchronize(s);  // EXPECT: host-sync
  }
  cudaStreamSynchronize(s);  // CLEAN: host-sync
  nvtx3::scoped_range other{"prefill"};
  cudaStreamSynchronize(s);  // CLEAN: host-sync
  wait_elsewhere(s);
}

struct traced {
  explicit traced(const char*) : range("step") {}
  nvtx3::scoped_range range;
};
void in_an_object(cudaStream_t s) {
  {
    traced here("x");
    cudaStreamSynchronize(s);  // EXPECT: host-sync
  }
  cudaStreamSynchronize(s);  // CLEAN: host-sync
}

void by_value(cudaStream_t s, int* pinned, const int* d) {
  nvtx3::scoped_range range{"step"};
  cudaMemcpyAsync(pinned, d, 4, cudaMemcpyDeviceToHost, s);
  if (*pinned) work<<<1, 1, 0, s>>>(nullptr);  // EXPECT: host-branch
}

// No range of that name, and a name that only the running program knows.
void others(cudaStream_t s, const std::string& name) {
  nvtxRangePushA("stepping");
  cudaStreamSynchronize(s);  // CLEAN: host-sync
  nvtxRangePop();
  nvtxRangePushA(name.c_str());
  cudaStreamSynchronize(s);  // CLEAN: host-sync
  nvtxRangePop();
  nvtxRangePop();
  cudaStreamSynchronize(s);  // CLEAN: host-sync
}

// In a capture a range changes nothing.
void in_a_capture(cudaStream_t s) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  nvtxRangePushA("step");
  nvtxRangePop();
  cudaStreamSynchronize(s);  // EXPECT: host-sync
  cudaStreamEndCapture(s, &graph);
  cudaStreamSynchronize(s);  // CLEAN: host-sync
}
