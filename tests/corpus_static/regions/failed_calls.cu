// Where a call of CUDA has failed, the capture is lost, whatever is called there: that it is not known is no
// reason.
#include <cublas_v2.h>
#include <cuda_runtime.h>

__global__ void work() {}

using Handler = void (*)(const char*);
Handler on_error = nullptr, on_step = nullptr, on_both = nullptr, on_idle = nullptr;

static void fail(const char* text) {
  if (on_error) on_error(text);  // EXPECT: not-looked-into:note
}
static void tell(const char* text) {
  on_both(text);  // EXPECT: not-analysed, not-looked-into:note
}

#define CHECK(call)                                              \
  do {                                                           \
    const cudaError_t status = (call);                           \
    if (cudaSuccess != status) fail(cudaGetErrorString(status)); \
  } while (0)

void captured(cudaStream_t stream, cublasHandle_t blas, void* p) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  CHECK(cudaMemsetAsync(p, 0, 4, stream));
  if (cublasSetStream(blas, stream) != CUBLAS_STATUS_SUCCESS) tell("no stream");
  tell("a step");
  on_step("a step");  // EXPECT: not-analysed
  const cudaError_t launched = cudaMemsetAsync(p, 0, 8, stream);
  if (launched == cudaSuccess)
    on_idle("it worked");  // EXPECT: not-analysed
  else
    fail("it did not");
  work<<<1, 1, 0, stream>>>();
  cudaStreamEndCapture(stream, &graph);
}

// A status of the project's own may say anything.
enum class StepStatus { idle, running };
void by_a_status_of_its_own(cudaStream_t stream, StepStatus status) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  if (status != StepStatus::idle) on_idle("running");  // EXPECT: not-analysed
  cudaStreamEndCapture(stream, &graph);
}

// Behind the test the step goes on.
static bool set(cudaStream_t stream, void* p) {
  if (cudaMemsetAsync(p, 0, 4, stream) != cudaSuccess) return false;
  on_step("it is set");  // EXPECT: not-analysed
  return true;
}
void in_a_callee(cudaStream_t stream, void* p) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  set(stream, p);
  on_idle("behind it");  // EXPECT: not-analysed
  cudaStreamEndCapture(stream, &graph);
}
