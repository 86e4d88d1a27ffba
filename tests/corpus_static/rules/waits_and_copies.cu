// host-sync, host-poll, sync-copy: in a region, through any depth of calls.
#include <capgate/capgate.h>
#include <cuda_runtime.h>

__global__ void work(int* p);

static void deep(cudaStream_t s) {
  cudaStreamSynchronize(s);  // EXPECT: host-sync
}
static void deeper(cudaStream_t s) { deep(s); }

struct Layer {
  virtual ~Layer() = default;
  void forward(cudaStream_t s) { deeper(s); }
};

class RunScope {
 public:
  explicit RunScope(cudaStream_t s) : stream_(s) {}
  ~RunScope() { cudaStreamSynchronize(stream_); }  // EXPECT: host-sync

 private:
  cudaStream_t stream_;
};

CAPGATE_REGION void waits(Layer& layer, cudaEvent_t e, cudaStream_t s) {
  layer.forward(s);
  cudaEventSynchronize(e);   // EXPECT: host-sync
  cudaDeviceSynchronize();   // EXPECT: host-sync
  RunScope scope(s);
  while (cudaStreamQuery(s) == cudaErrorNotReady) {  // EXPECT: host-poll
  }
  if (cudaEventQuery(e) == cudaSuccess) return;  // EXPECT: host-poll
}

CAPGATE_REGION void copies(int* d, int* d2, int* h, cudaStream_t s) {
  cudaMemcpy(d, h, 4, cudaMemcpyHostToDevice);     // EXPECT: sync-copy
  cudaMemcpy(d2, d, 4, cudaMemcpyDeviceToDevice);  // EXPECT: sync-copy
  cudaMemset(d, 0, 4);                             // EXPECT: sync-copy
  cudaMemsetAsync(d, 0, 4, s);  // CLEAN: sync-copy
  cudaMemcpyAsync(d, d2, 4, cudaMemcpyDeviceToDevice, s);  // CLEAN: sync-copy
}

CAPGATE_REGION void legal(cudaEvent_t e, int* d, cudaStream_t s, cudaStream_t side) {
  cudaEventRecord(e, s);  // CLEAN: host-sync
  cudaStreamWaitEvent(side, e, 0);  // CLEAN: host-sync
  work<<<1, 1, 0, side>>>(d);  // CLEAN: default-stream
  cudaEventRecord(e, side);
  cudaStreamWaitEvent(s, e, 0);  // CLEAN: host-sync
  cudaEvent_t fresh;
  cudaEventCreateWithFlags(&fresh, cudaEventDisableTiming);
  cudaPointerAttributes a;
  cudaPointerGetAttributes(&a, d);
  cudaFuncSetAttribute(work, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
}

void outside(cudaEvent_t e, int* d, int* h, cudaStream_t s) {
  RunScope scope(s);
  cudaStreamSynchronize(s);  // CLEAN: host-sync
  cudaEventSynchronize(e);  // CLEAN: host-sync
  while (cudaStreamQuery(s) == cudaErrorNotReady) {  // CLEAN: host-poll
  }
  cudaMemcpy(d, h, 4, cudaMemcpyHostToDevice);  // CLEAN: sync-copy
  cudaMemset(d, 0, 4);  // CLEAN: sync-copy
}

CAPGATE_REGION void allowed(cudaStream_t s) {
  work<<<1, 1, 0, s>>>(nullptr);
}
