// device-alloc: the handles and plans of libraries come with memory on the device.
#include <capgate/capgate.h>
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cufft.h>
#include <curand.h>
#include <cusolverDn.h>
#include <cusparse.h>

// As cuDNN declares it, which is no part of the toolkit.
struct cudnnContext;
extern "C" int cudnnCreate(cudnnContext** handle);

CAPGATE_REGION void created() {
  cusparseHandle_t sparse;
  cusolverDnHandle_t dense;
  cudnnContext* neural;
  curandGenerator_t random;
  cusparseCreate(&sparse);                                  // EXPECT: device-alloc
  cusolverDnCreate(&dense);                                 // EXPECT: device-alloc
  cudnnCreate(&neural);                                     // EXPECT: device-alloc
  curandCreateGenerator(&random, CURAND_RNG_PSEUDO_DEFAULT);  // EXPECT: device-alloc
}
CAPGATE_REGION void planned(int n, int* sizes) {
  cufftHandle plan;
  cufftPlan1d(&plan, n, CUFFT_C2C, 1);          // EXPECT: device-alloc
  cufftPlan2d(&plan, n, n, CUFFT_C2C);          // EXPECT: device-alloc
  cufftPlan3d(&plan, n, n, n, CUFFT_C2C);       // EXPECT: device-alloc
  cufftPlanMany(&plan, 1, sizes, sizes, 1, n, sizes, 1, n, CUFFT_C2C, 1);  // EXPECT: device-alloc
}

// Made once, used in the capture.
class Transform {
 public:
  Transform(int n, cudaStream_t s) {
    cufftPlan1d(&plan_, n, CUFFT_C2C, 1);  // CLEAN: device-alloc
    cufftSetStream(plan_, s);              // CLEAN: device-alloc
    cusparseCreate(&sparse_);              // CLEAN: device-alloc
    cusparseSetStream(sparse_, s);         // CLEAN: device-alloc
  }
  void capture(cudaStream_t s) {
    cudaGraph_t g;
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    cusparseSetStream(sparse_, s);         // CLEAN: device-alloc
    cudaStreamEndCapture(s, &g);
  }

 private:
  cufftHandle plan_ = 0;
  cusparseHandle_t sparse_ = nullptr;
};
void transformed(int n, cudaStream_t s) {
  Transform made(n, s);
  made.capture(s);
}
void created_outside() {
  cusolverDnHandle_t dense;
  cudnnContext* neural;
  curandGenerator_t random;
  cublasHandle_t blas;
  cusolverDnCreate(&dense);                                   // CLEAN: device-alloc
  cudnnCreate(&neural);                                       // CLEAN: device-alloc
  curandCreateGenerator(&random, CURAND_RNG_PSEUDO_DEFAULT);  // CLEAN: device-alloc
  cublasCreate(&blas);                                        // CLEAN: device-alloc
}
