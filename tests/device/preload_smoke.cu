// Does the preloaded library see a real program? preload_smoke [clean|faulty]: one capture, one marked
// region, NVTX.
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <cstring>
#include <thread>

#include "detector/include/capgate/capgate.h"

__global__ void scale(float* x, float by, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= by;
}

struct ByValue {
  int a[5];
  float b;
};

__global__ void by_value(float* x, ByValue v) {
  x[0] += v.b + float(v.a[4]);
}

#define TRY(call) std::printf("%s -> %d\n", #call, int(call))

static void clean(cudaStream_t stream, float* device, float* pinned, cudaGraphExec_t* exec) {
  cudaGraph_t graph = nullptr;
  capgate_bucket("bs=4");
  TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  scale<<<4, 128, 0, stream>>>(device, 2.0f, 512);
  by_value<<<1, 1, 0, stream>>>(device, ByValue{{1, 2, 3, 4, 5}, 0.5f});
  TRY(cudaMemcpyAsync(pinned, device, 256, cudaMemcpyDeviceToHost, stream));
  TRY(cudaMemsetAsync(device, 0, 64, stream));
  TRY(cudaStreamEndCapture(stream, &graph));
  capgate_bucket(nullptr);
  TRY(cudaGraphInstantiate(exec, graph, 0));
  for (int i = 0; i < 4; ++i) {
    TRY(cudaGraphLaunch(*exec, stream));
    TRY(cudaStreamSynchronize(stream));
  }
}

static void faulty(cudaStream_t stream, float* device) {
  float host[8] = {};
  cudaGraph_t graph = nullptr;
  TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  scale<<<4, 128, 0, stream>>>(device, 2.0f, 512);
  TRY(cudaMemcpyAsync(device, host, sizeof(host), cudaMemcpyHostToDevice, stream));  // pageable
  TRY(cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost));               // not captured
  scale<<<4, 128>>>(device, 2.0f, 512);                                              // the legacy stream
  TRY(cudaStreamSynchronize(stream));                                                // kills the capture
  TRY(cudaStreamEndCapture(stream, &graph));
  (void)cudaGetLastError();
  TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  void* late = nullptr;
  TRY(cudaMalloc(&late, 1 << 20));
  scale<<<1, 128, 0, stream>>>(device, 2.0f, 128);
  TRY(cudaStreamEndCapture(stream, &graph));
  for (int step = 0; step < 2; ++step) {
    nvtxRangePushA("decode-step");
    scale<<<4, 128, 0, stream>>>(device, 1.5f, 512);
    TRY(cudaMemcpyAsync(host, device, sizeof(host), cudaMemcpyDeviceToHost, stream));
    TRY(cudaStreamSynchronize(stream));
    std::thread([&] { (void)cudaStreamQuery(stream); }).join();
    nvtxRangePop();
    capgate::region region("decode-step-by-header");
    TRY(cudaDeviceSynchronize());
  }
}

int main(int argc, char** argv) {
  cudaStream_t stream;
  float *device = nullptr, *pinned = nullptr;
  cudaGraphExec_t exec = nullptr;
  TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  TRY(cudaMalloc(&device, 4096));
  TRY(cudaMallocHost(&pinned, 4096));
  clean(stream, device, pinned, &exec);
  if (argc > 1 && std::strcmp(argv[1], "faulty") == 0) faulty(stream, device);
  std::printf("audited: %d\n", capgate_audited());
  return 0;
}
