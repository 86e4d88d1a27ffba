// host-sync: waits before, after and beside a capture, and what is no wait.
#include <capgate/capgate.h>
#include <cuda_runtime.h>

#include <condition_variable>
#include <mutex>
#include <vector>

__global__ void work(float* p);

// The usual life of a graph: warm up, wait, capture, launch, wait.
class Decoder {
 public:
  explicit Decoder(cudaStream_t s) : stream_(s) {
    work<<<1, 1, 0, stream_>>>(d_);
    cudaStreamSynchronize(stream_);  // CLEAN: host-sync, the warm-up
    cudaGraph_t graph;
    cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal);
    work<<<1, 1, 0, stream_>>>(d_);
    cudaStreamEndCapture(stream_, &graph);
    cudaGraphInstantiate(&exec_, graph, 0);
    cudaDeviceSynchronize();         // CLEAN: host-sync, after the end
  }
  ~Decoder() {
    cudaStreamSynchronize(stream_);  // CLEAN: host-sync, the destructor runs outside
    cudaGraphExecDestroy(exec_);
  }
  void step() {
    cudaGraphLaunch(exec_, stream_);
    cudaStreamSynchronize(stream_);  // CLEAN: host-sync, after the launch
  }
  void step(cudaEvent_t done) {
    cudaGraphLaunch(exec_, stream_);
    cudaEventRecord(done, stream_);
    cudaEventSynchronize(done);      // CLEAN: host-sync, after the launch
  }

 private:
  cudaStream_t stream_;
  cudaGraphExec_t exec_ = nullptr;
  float* d_ = nullptr;
};
void decode(cudaStream_t s, cudaEvent_t done, int n) {
  Decoder decoder(s);
  for (int i = 0; i < n; ++i) decoder.step();
  decoder.step(done);
}

// Order without a wait.
CAPGATE_REGION void forked(float* d, cudaStream_t s, cudaStream_t side, cudaEvent_t e) {
  cudaEventRecord(e, s);                   // CLEAN: host-sync
  cudaStreamWaitEvent(side, e, 0);         // CLEAN: host-sync
  work<<<1, 1, 0, side>>>(d);
  cudaEventRecordWithFlags(e, side, cudaEventRecordDefault);  // CLEAN: host-sync
  cudaStreamWaitEvent(s, e, 0);            // CLEAN: host-sync
}
// The device's own waits, and those of the host's threads.
__global__ void meet(float* p) {
  __syncthreads();                         // CLEAN: host-sync
  p[threadIdx.x] = 0;
  __syncwarp();                            // CLEAN: host-sync
}
CAPGATE_REGION void of_threads(float* d, std::mutex& mutex, cudaStream_t s) {
  const std::lock_guard<std::mutex> lock(mutex);  // CLEAN: host-sync
  meet<<<1, 32, 0, s>>>(d);                       // CLEAN: host-sync
}
struct Pipeline {
  void synchronize() {}
  void cudaStreamSynchronize(int) {}
};
CAPGATE_REGION void other_functions(Pipeline& pipeline) {
  pipeline.synchronize();             // CLEAN: host-sync, another function of the name
  pipeline.cudaStreamSynchronize(3);  // CLEAN: host-sync, another function of the name
}
// Written down, and never run in the capture.
CAPGATE_REGION void kept_for_later(std::vector<void (*)(cudaStream_t)>& later) {
  later.push_back([](cudaStream_t s) { cudaStreamSynchronize(s); });  // CLEAN: host-sync
}
CAPGATE_REGION void by_constant(cudaStream_t s) {
  if constexpr (sizeof(void*) == 4) cudaStreamSynchronize(s);  // CLEAN: host-sync
}
void two_captures(float* d, cudaStream_t s) {
  cudaGraph_t g;
  for (int i = 0; i < 2; ++i) {
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    work<<<1, 1, 0, s>>>(d);
    cudaStreamEndCapture(s, &g);
    cudaStreamSynchronize(s);         // CLEAN: host-sync, between two captures
    cudaMemcpy(d, d + 4, 4, cudaMemcpyDeviceToDevice);  // CLEAN: sync-copy
    cudaMemset(d, 0, 4);                                // CLEAN: sync-copy
  }
}
