// Scalar results of cuBLAS are device values that the host waits for, unless the pointer mode is device.
#include <capgate/capgate.h>
#include <cublas_v2.h>
#include <cuda_runtime.h>

void act() {}

CAPGATE_REGION void norms(cublasHandle_t h, const float* x, int n) {
  float norm = 0;
  cublasSnrm2(h, n, x, 1, &norm);
  if (norm > 1.f) act();  // EXPECT: host-branch
  int best = 0;
  cublasIsamax(h, n, x, 1, &best);
  switch (best) {  // EXPECT: host-branch
    case 1:
      act();
  }
}

CAPGATE_REGION void stays_on_the_device(cublasHandle_t h, const float* x, float* d_norm, int n) {
  cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE);
  cublasSnrm2(h, n, x, 1, d_norm);
  cublasStatus_t st = cublasSnrm2(h, n, x, 1, d_norm);
  if (st != CUBLAS_STATUS_SUCCESS) act();  // CLEAN: host-branch
  if (n > 1) act();
}

CAPGATE_REGION void gemm(cublasHandle_t h, float* a, float* b, float* c, int n) {
  const float one = 1.f, zero = 0.f;
  cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, b, n, &zero, c, n);
  if (one > zero) act();  // CLEAN: host-branch
  if (n > 64) act();
}
