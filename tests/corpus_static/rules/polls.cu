// host-poll: queries while a stream captures, and those that do not meet one.
#include <capgate/capgate.h>
#include <cuda.h>
#include <cuda_runtime.h>

__global__ void work(float* p);

CAPGATE_REGION bool driver(CUstream s, CUevent e) {
  if (cuStreamQuery(s) == CUDA_SUCCESS) return true;  // EXPECT: host-poll
  return cuEventQuery(e) == CUDA_SUCCESS;             // EXPECT: host-poll
}
CAPGATE_REGION cudaError_t returned(cudaEvent_t e) {
  return cudaEventQuery(e);  // EXPECT: host-poll
}

static bool idle(cudaStream_t s) {
  cudaStreamCaptureStatus status;
  cudaStreamIsCapturing(s, &status);
  if (status != cudaStreamCaptureStatusNone) return false;
  return cudaStreamQuery(s) == cudaSuccess;  // CLEAN: host-poll
}
CAPGATE_REGION void asks_first(float* d, cudaStream_t s) {
  if (!idle(s)) work<<<1, 1, 0, s>>>(d);  // CLEAN: host-poll, host-branch
}
CAPGATE_REGION void other_questions(cudaStream_t s, cudaEvent_t a, cudaEvent_t b) {
  int priority = 0;
  unsigned flags = 0;
  float ms = 0;
  cudaStreamGetPriority(s, &priority);  // CLEAN: host-poll
  cudaStreamGetFlags(s, &flags);        // CLEAN: host-poll
  if (cudaPeekAtLastError() != cudaSuccess) return;     // CLEAN: host-poll, host-branch
  cudaStreamWaitEvent(s, a, 0);         // CLEAN: host-poll
  if (priority < 0 || flags) cudaStreamWaitEvent(s, b, 0);  // CLEAN: host-poll, host-branch
}
void around_the_capture(float* d, cudaStream_t s, cudaEvent_t e) {
  cudaGraph_t g;
  while (cudaEventQuery(e) == cudaErrorNotReady) {  // CLEAN: host-poll
  }
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  work<<<1, 1, 0, s>>>(d);
  cudaStreamEndCapture(s, &g);
  while (cudaStreamQuery(s) == cudaErrorNotReady) {  // CLEAN: host-poll
  }
}
void driver_outside(CUstream s, CUevent e) {
  while (cuStreamQuery(s) == CUDA_ERROR_NOT_READY) {  // CLEAN: host-poll
  }
  cuEventQuery(e);  // CLEAN: host-poll
}
// A method of the same name is another function.
struct Database {
  int cudaStreamQuery(int) { return 0; }
};
CAPGATE_REGION void of_another_class(Database& database) {
  database.cudaStreamQuery(3);  // CLEAN: host-poll
}
