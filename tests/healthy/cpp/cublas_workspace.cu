// Captured products with a workspace of the caller's own, warmed up once.
// CORPUS-BUILD: cublas
#include <cublas_v2.h>

#include "tests/corpus/cpp/corpus.h"

constexpr int kSize = 128;
constexpr size_t kWorkspace = 32 << 20;

__global__ void fill(float* x, float value) {
  x[blockIdx.x * kSize + threadIdx.x] = value;
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  float *a, *b, *c;
  for (float** matrix : {&a, &b, &c}) CU(cudaMalloc(matrix, kSize * kSize * sizeof(float)));
  fill<<<kSize, kSize, 0, stream>>>(a, 1);
  fill<<<kSize, kSize, 0, stream>>>(b, 0.5f);
  void* workspace = nullptr;
  CU(cudaMalloc(&workspace, kWorkspace));
  cublasHandle_t handle = nullptr;
  if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return corpus::saw(false, "no cuBLAS handle");
  cublasSetStream(handle, stream);
  cublasSetWorkspace(handle, workspace, kWorkspace);
  const float one = 1, zero = 0;
  const auto product = [&] {
    return cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, kSize, kSize, kSize, &one, a, kSize, b, kSize, &zero,
                       c, kSize);
  };
  if (product() != CUBLAS_STATUS_SUCCESS) return corpus::saw(false, "the eager product");
  CU(cudaStreamSynchronize(stream));

  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int layer = 0; layer < 4; ++layer) {
    if (product() != CUBLAS_STATUS_SUCCESS) return corpus::saw(false, "the captured product");
  }
  const cudaGraph_t graph = corpus::end_capture(stream);
  if (!graph) return corpus::saw(false, "the capture died");
  corpus::replay(graph, stream, 3);
  float corner = 0;
  CU(cudaMemcpy(&corner, c, sizeof corner, cudaMemcpyDeviceToHost));
  return corpus::saw(corner == kSize / 2, "four products in a graph");
}
