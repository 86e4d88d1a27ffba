// Every scalar that cuBLAS gives back: a device value in the host's memory, unless the pointer mode says where it stays.
#include <capgate/capgate.h>
#include <cublas_v2.h>
#include <cuda_runtime.h>

void act() {}

CAPGATE_REGION void vectors(int n, const float* d, float* h, float* up, float* m) {
  cublasGetVector(n, 4, d, 1, h, 1);
  if (h[0] > 0) act();  // EXPECT: host-branch
  cublasSetVector(n, 4, up, 1, h, 1);
  if (up[0] > 0) act();  // CLEAN: host-branch, the other direction
  cublasGetMatrix(n, 1, 4, d, n, m, n);
  if (m[0] > 0) act();  // EXPECT: host-branch
}

CAPGATE_REGION void dots(cublasHandle_t h, const void* a, const void* b, int n) {
  float sdot;
  cublasSdot(h, n, static_cast<const float*>(a), 1, static_cast<const float*>(b), 1, &sdot);
  if (sdot > 0) act();  // EXPECT: host-branch
  double ddot;
  cublasDdot(h, n, static_cast<const double*>(a), 1, static_cast<const double*>(b), 1, &ddot);
  if (ddot > 0) act();  // EXPECT: host-branch
  cuComplex cdotu;
  cublasCdotu(h, n, static_cast<const cuComplex*>(a), 1, static_cast<const cuComplex*>(b), 1, &cdotu);
  if (cdotu.x > 0) act();  // EXPECT: host-branch
  cuComplex cdotc;
  cublasCdotc(h, n, static_cast<const cuComplex*>(a), 1, static_cast<const cuComplex*>(b), 1, &cdotc);
  if (cdotc.x > 0) act();  // EXPECT: host-branch
  cuDoubleComplex zdotu;
  cublasZdotu(h, n, static_cast<const cuDoubleComplex*>(a), 1, static_cast<const cuDoubleComplex*>(b), 1, &zdotu);
  if (zdotu.x > 0) act();  // EXPECT: host-branch
  cuDoubleComplex zdotc;
  cublasZdotc(h, n, static_cast<const cuDoubleComplex*>(a), 1, static_cast<const cuDoubleComplex*>(b), 1, &zdotc);
  if (zdotc.x > 0) act();  // EXPECT: host-branch
}

CAPGATE_REGION void by_type(cublasHandle_t h, const void* a, const void* b, int n) {
  float dot, dotc, norm;
  cublasDotEx(h, n, a, CUDA_R_32F, 1, b, CUDA_R_32F, 1, &dot, CUDA_R_32F, CUDA_R_32F);
  if (dot > 0) act();  // EXPECT: host-branch
  cublasDotcEx(h, n, a, CUDA_R_32F, 1, b, CUDA_R_32F, 1, &dotc, CUDA_R_32F, CUDA_R_32F);
  if (dotc > 0) act();  // EXPECT: host-branch
  cublasNrm2Ex(h, n, a, CUDA_R_32F, 1, &norm, CUDA_R_32F, CUDA_R_32F);
  if (norm > 0) act();  // EXPECT: host-branch
}

CAPGATE_REGION void norms(cublasHandle_t h, const void* a, int n) {
  float snrm2;
  cublasSnrm2(h, n, static_cast<const float*>(a), 1, &snrm2);
  if (snrm2 > 0) act();  // EXPECT: host-branch
  double dnrm2;
  cublasDnrm2(h, n, static_cast<const double*>(a), 1, &dnrm2);
  if (dnrm2 > 0) act();  // EXPECT: host-branch
  float scnrm2;
  cublasScnrm2(h, n, static_cast<const cuComplex*>(a), 1, &scnrm2);
  if (scnrm2 > 0) act();  // EXPECT: host-branch
  double dznrm2;
  cublasDznrm2(h, n, static_cast<const cuDoubleComplex*>(a), 1, &dznrm2);
  if (dznrm2 > 0) act();  // EXPECT: host-branch
  float sasum;
  cublasSasum(h, n, static_cast<const float*>(a), 1, &sasum);
  if (sasum > 0) act();  // EXPECT: host-branch
  double dasum;
  cublasDasum(h, n, static_cast<const double*>(a), 1, &dasum);
  if (dasum > 0) act();  // EXPECT: host-branch
  float scasum;
  cublasScasum(h, n, static_cast<const cuComplex*>(a), 1, &scasum);
  if (scasum > 0) act();  // EXPECT: host-branch
  double dzasum;
  cublasDzasum(h, n, static_cast<const cuDoubleComplex*>(a), 1, &dzasum);
  if (dzasum > 0) act();  // EXPECT: host-branch
}

CAPGATE_REGION void places(cublasHandle_t h, const void* a, int n) {
  int places[8];
  cublasIsamax(h, n, static_cast<const float*>(a), 1, &places[0]);
  if (places[0] > 0) act();  // EXPECT: host-branch
  cublasIdamax(h, n, static_cast<const double*>(a), 1, &places[1]);
  if (places[1] > 0) act();  // EXPECT: host-branch
  cublasIcamax(h, n, static_cast<const cuComplex*>(a), 1, &places[2]);
  if (places[2] > 0) act();  // EXPECT: host-branch
  cublasIzamax(h, n, static_cast<const cuDoubleComplex*>(a), 1, &places[3]);
  if (places[3] > 0) act();  // EXPECT: host-branch
  cublasIsamin(h, n, static_cast<const float*>(a), 1, &places[4]);
  if (places[4] > 0) act();  // EXPECT: host-branch
  cublasIdamin(h, n, static_cast<const double*>(a), 1, &places[5]);
  if (places[5] > 0) act();  // EXPECT: host-branch
  cublasIcamin(h, n, static_cast<const cuComplex*>(a), 1, &places[6]);
  if (places[6] > 0) act();  // EXPECT: host-branch
  cublasIzamin(h, n, static_cast<const cuDoubleComplex*>(a), 1, &places[7]);
  if (places[7] > 0) act();  // EXPECT: host-branch
}

// The same calls where the result stays on the device, or is the host's again.
CAPGATE_REGION void stays(cublasHandle_t h, const float* a, const float* b, float* d, int n) {
  cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE);
  if (cublasSdot(h, n, a, 1, b, 1, d) != CUBLAS_STATUS_SUCCESS) act();  // CLEAN: host-branch
  if (cublasSnrm2(h, n, a, 1, d) != CUBLAS_STATUS_SUCCESS) act();       // CLEAN: host-branch
  if (d != nullptr) act();                                              // CLEAN: host-branch
}
CAPGATE_REGION void overwritten(cublasHandle_t h, const float* a, int n) {
  float sum;
  cublasSasum(h, n, a, 1, &sum);
  sum = static_cast<float>(n);
  if (sum > 1) act();  // CLEAN: host-branch
}
CAPGATE_REGION void asks(cublasHandle_t h) {
  int version = 0;
  cublasPointerMode_t mode;
  cublasGetVersion(h, &version);
  cublasGetPointerMode(h, &mode);
  if (version > 11) act();                         // CLEAN: host-branch
  if (mode == CUBLAS_POINTER_MODE_DEVICE) act();   // CLEAN: host-branch
}
