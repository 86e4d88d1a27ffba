// Twelve different faults in one marked eager step, each on its own line: an eager step dies of nothing,
// so one run has to name them all. What the step leaves behind is freed at the end, outside it.
// CORPUS-AUDIT: --region step
#include <nvtx3/nvToolsExt.h>

#include "corpus.h"

__constant__ int scale;

struct Step {
  cudaStream_t stream = corpus::new_stream();
  cudaEvent_t event = corpus::new_event();
  int* x = corpus::device_ints(4);
  std::vector<int> pageable = std::vector<int>(4);
  std::vector<int*> device_left, pinned_left;

#ifdef CLEAN
  void run() {
    add<<<1, 1, 0, stream>>>(x, 1);
    CU(cudaEventRecord(event, stream));
    CU(cudaMemsetAsync(x + 3, 0, sizeof(int), stream));
  }
#else
  void run() {
    int value = 0, one = 1;
    int *device = nullptr, *pinned = nullptr;
    add<<<1, 1, 0, stream>>>(x, 1);
    CU(cudaEventRecord(event, stream));
    while (cudaStreamQuery(stream) == cudaErrorNotReady) {  // EXPECT: host-poll error run
    }
    while (cudaEventQuery(event) == cudaErrorNotReady) {  // EXPECT: host-poll error run
    }
    CU(cudaEventSynchronize(event));                                  // EXPECT: host-sync error run
    CU(cudaStreamSynchronize(stream));                                // EXPECT: host-sync error run
    CU(cudaDeviceSynchronize());                                      // EXPECT: host-sync error run
    CU(cudaMemcpy(&value, x, sizeof value, cudaMemcpyDeviceToHost));  // EXPECT: sync-copy error run
    CU(cudaMemset(x + 3, 0, sizeof(int)));                            // EXPECT: sync-copy error run
    CU(cudaMemcpyToSymbol(scale, &one, sizeof one));                  // EXPECT: sync-copy error run
    int* const host = pageable.data();
    CU(cudaMemcpyAsync(x + 2, host, 8, cudaMemcpyHostToDevice, stream));  // EXPECT: pageable-copy error run
    CU(cudaMemcpyAsync(host, x, 8, cudaMemcpyDeviceToHost, stream));      // EXPECT: pageable-copy error run
    CU(cudaMalloc(&device, 4096));                                        // EXPECT: device-alloc error run
    CU(cudaMallocHost(&pinned, 4096));                                    // EXPECT: host-alloc error run
    device_left.push_back(device);
    pinned_left.push_back(pinned);
  }
#endif
};

int main() {
  Step step;
  for (int i = 0; i < 3; ++i) {
    nvtxRangePushA("step");
    step.run();
    nvtxRangePop();
  }
  CU(cudaStreamSynchronize(step.stream));
  for (int* device : step.device_left) CU(cudaFree(device));
  for (int* pinned : step.pinned_left) CU(cudaFreeHost(pinned));
  return corpus::saw(corpus::read_one(step.x) == 3, "three eager steps");
}
