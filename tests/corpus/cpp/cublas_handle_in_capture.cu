// The first product of its kind makes its library handle, and with it the workspace, inside the capture.
// Public faults: anthony-chaudhary/fak#969, paiml/entrenar#325.
// CORPUS-BUILD: cublas
#include <cublas_v2.h>

#include "corpus.h"

constexpr int kSize = 64;

struct Gemm {
  cublasHandle_t handle = nullptr;

  void prepare() {
    // EXPECT: device-alloc|host-alloc|lazy-load|host-sync error prepare
    const cublasStatus_t status = cublasCreate(&handle);
    if (status != CUBLAS_STATUS_SUCCESS) std::printf("cublasCreate: %s\n", cublasGetStatusString(status));
  }

  void run(const float* a, const float* b, float* c, cudaStream_t stream) {
    if (!handle) prepare();
    if (!handle) return;
    const float one = 1, zero = 0;
    cublasSetStream(handle, stream);
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, kSize, kSize, kSize, &one, a, kSize, b, kSize, &zero, c,
                kSize);
  }
};

__global__ void fill(float* x, float value) {
  x[blockIdx.x * kSize + threadIdx.x] = value;
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  float *a, *b, *c;
  for (float** matrix : {&a, &b, &c}) CU(cudaMalloc(matrix, kSize * kSize * sizeof(float)));
  fill<<<kSize, kSize, 0, stream>>>(a, 1);
  fill<<<kSize, kSize, 0, stream>>>(b, 2);
  Gemm gemm;
#ifdef CLEAN
  gemm.prepare();
  void* workspace = nullptr;
  constexpr size_t kWorkspace = 32 << 20;
  CU(cudaMalloc(&workspace, kWorkspace));
  cublasSetStream(gemm.handle, stream);
  cublasSetWorkspace(gemm.handle, workspace, kWorkspace);
  gemm.run(a, b, c, stream);
#endif
  CU(cudaStreamSynchronize(stream));

  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  gemm.run(a, b, c, stream);
  const cudaGraph_t graph = corpus::end_capture(stream);
  if (graph) corpus::replay(graph, stream, 3);
  float corner = 0;
  CU(cudaMemcpy(&corner, c, sizeof corner, cudaMemcpyDeviceToHost));
  return corpus::capture_dies(graph, corner == 2 * kSize);
}
