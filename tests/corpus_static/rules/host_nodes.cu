// host-node: callbacks that become nodes of the graph, and what resembles them.
#include <capgate/capgate.h>
#include <cuda.h>
#include <cuda_runtime.h>

#include <functional>

__global__ void work(float* p);
static void CUDART_CB note(void* data) {
  ++*static_cast<int*>(data);
}
static void CUDA_CB noted(CUstream, CUresult, void*) {}
static int counter;

static void tell(cudaStream_t s) {
  cudaLaunchHostFunc(s, note, &counter);  // EXPECT: host-node:warning
}

CAPGATE_REGION void through_a_wrapper(cudaStream_t s) {
  tell(s);
}
CAPGATE_REGION void driver(CUstream s) {
  cuLaunchHostFunc(s, note, &counter);         // EXPECT: host-node:warning
  cuStreamAddCallback(s, noted, &counter, 0);  // EXPECT: host-node
}

CAPGATE_REGION void called_at_once(float* d, cudaStream_t s) {
  note(&counter);                                     // CLEAN: host-node
  const std::function<void(void*)> later = note;
  later(&counter);                                    // CLEAN: host-node
  cudaEvent_t event;
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  cudaEventRecord(event, s);                          // CLEAN: host-node
  work<<<1, 1, 0, s>>>(d);                            // CLEAN: host-node
}
CAPGATE_REGION void while_eager(cudaStream_t s) {
  cudaStreamCaptureStatus status;
  cudaStreamIsCapturing(s, &status);
  if (status == cudaStreamCaptureStatusNone) cudaLaunchHostFunc(s, note, &counter);  // CLEAN: host-node
}
void around_the_capture(float* d, cudaStream_t s) {
  cudaGraph_t g;
  cudaLaunchHostFunc(s, note, &counter);  // CLEAN: host-node
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  work<<<1, 1, 0, s>>>(d);
  cudaStreamEndCapture(s, &g);
  cudaLaunchHostFunc(s, note, &counter);  // CLEAN: host-node
}
void driver_outside(CUstream s) {
  cuLaunchHostFunc(s, note, &counter);         // CLEAN: host-node
  cuStreamAddCallback(s, noted, &counter, 0);  // CLEAN: host-node
}
