// Code that does not run while a stream captures, and the capture-mode push/pop idiom.
#include <capgate/capgate.h>
#include <cuda_runtime.h>

__global__ void work(int* p);
void act() {}

CAPGATE_REGION void asked_directly(cudaStream_t s) {
  cudaStreamCaptureStatus status;
  cudaStreamIsCapturing(s, &status);
  if (status == cudaStreamCaptureStatusNone) cudaStreamSynchronize(s);  // CLEAN: host-sync
  if (status != cudaStreamCaptureStatusNone) {
    work<<<1, 1, 0, s>>>(nullptr);
  } else {
    cudaStreamSynchronize(s);  // CLEAN: host-sync
  }
  if (status == cudaStreamCaptureStatusActive) cudaStreamSynchronize(s);  // EXPECT: host-sync
}

static bool is_capturing(cudaStream_t s) {
  cudaStreamCaptureStatus status;
  cudaStreamIsCapturing(s, &status);
  return status != cudaStreamCaptureStatusNone;
}

CAPGATE_REGION void asked_through_a_function(cudaStream_t s, bool debug) {
  if (!is_capturing(s)) cudaStreamSynchronize(s);  // CLEAN: host-sync
  if (debug && !is_capturing(s)) cudaDeviceSynchronize();  // CLEAN: host-sync
  if (is_capturing(s)) return;
  cudaStreamSynchronize(s);  // CLEAN: host-sync
  void* p;
  cudaMalloc(&p, 4);  // CLEAN: device-alloc
}

CAPGATE_REGION void info(cudaStream_t s) {
  cudaStreamCaptureStatus status;
  cudaStreamGetCaptureInfo(s, &status, nullptr, nullptr, nullptr, nullptr, nullptr);
  const bool capturing = status == cudaStreamCaptureStatusActive;
  if (!capturing) cudaStreamSynchronize(s);  // CLEAN: host-sync
  cudaStreamSynchronize(s);  // EXPECT: host-sync
}

class RelaxedMode {
 public:
  RelaxedMode() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  ~RelaxedMode() { cudaThreadExchangeStreamCaptureMode(&mode_); }

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

CAPGATE_REGION void push_and_pop(cudaStream_t s) {
  void *p, *q, *r, *h;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  cudaThreadExchangeStreamCaptureMode(&mode);
  cudaMalloc(&p, 4);  // CLEAN: device-alloc
  cudaMallocHost(&h, 4);  // CLEAN: host-alloc
  cudaThreadExchangeStreamCaptureMode(&mode);
  cudaMalloc(&q, 4);  // EXPECT: device-alloc
  {
    RelaxedMode relaxed;
    cudaMalloc(&r, 4);  // CLEAN: device-alloc
  }
  cudaFree(r);  // EXPECT: device-alloc
}

void relaxed_capture(cudaStream_t s) {
  cudaGraph_t g;
  void* p;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed);
  cudaMalloc(&p, 4);  // EXPECT: device-alloc:warning
  cudaStreamEndCapture(s, &g);
}

// The stop-token check, outside the graph.
int decode(cudaGraphExec_t exec, cudaStream_t s, int* h_token, int* d_token, int eos) {
  for (;;) {
    cudaGraphLaunch(exec, s);
    cudaMemcpyAsync(h_token, d_token, 4, cudaMemcpyDeviceToHost, s);
    cudaStreamSynchronize(s);  // CLEAN: host-sync
    if (*h_token == eos) return *h_token;
  }
}

// A guard template whose destructor is known only as a pattern calls a method of a plain class.
struct Log {
  void flush(cudaStream_t s, int n) { cudaStreamSynchronize(s); }  // EXPECT: host-sync
};
template <class T>
struct Scoped {
  Log* log;
  cudaStream_t stream;
  T value;
  Scoped(Log* l, cudaStream_t s, T v) : log(l), stream(s), value(v) {}
  ~Scoped() { log->flush(stream, value); }
};

CAPGATE_REGION void scoped(Log& log, cudaStream_t s) { Scoped<int> scope(&log, s, 3); }
