// What nvcc gives every CUDA source without an #include and clang's CUDA mode does not. Included before each
// unit.
#pragma once
#if defined(__CUDA__) && defined(__cplusplus)

// nvcc's implicit cuda_runtime.h brings these along; sources lean on clock(), isfinite() and assert().
#include <assert.h>
#include <math.h>
#include <time.h>

#include <new>

// Host min and max of the global namespace. clang declares only the device ones; which overload is taken
// follows nvcc: the unsigned type wins over the signed one, double over float.
#define CAPGATE_MIN_MAX(R, A, B)                       \
  static inline __host__ R min(const A a, const B b) { \
    return (R)a < (R)b ? (R)a : (R)b;                  \
  }                                                    \
  static inline __host__ R max(const A a, const B b) { \
    return (R)a < (R)b ? (R)b : (R)a;                  \
  }
CAPGATE_MIN_MAX(int, int, int)
CAPGATE_MIN_MAX(unsigned, unsigned, unsigned)
CAPGATE_MIN_MAX(unsigned, int, unsigned)
CAPGATE_MIN_MAX(unsigned, unsigned, int)
CAPGATE_MIN_MAX(long, long, long)
CAPGATE_MIN_MAX(unsigned long, unsigned long, unsigned long)
CAPGATE_MIN_MAX(unsigned long, long, unsigned long)
CAPGATE_MIN_MAX(unsigned long, unsigned long, long)
CAPGATE_MIN_MAX(long long, long long, long long)
CAPGATE_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
CAPGATE_MIN_MAX(unsigned long long, long long, unsigned long long)
CAPGATE_MIN_MAX(unsigned long long, unsigned long long, long long)
CAPGATE_MIN_MAX(float, float, float)
CAPGATE_MIN_MAX(double, double, double)
CAPGATE_MIN_MAX(double, float, double)
CAPGATE_MIN_MAX(double, double, float)
#undef CAPGATE_MIN_MAX

// Cached loads and stores; clang 19 has only __ldg. No bodies: nothing is compiled.
#define CAPGATE_LOAD(NAME) \
  template <class T>       \
  __device__ T NAME(const T*);
CAPGATE_LOAD(__ldcs)
CAPGATE_LOAD(__ldcg)
CAPGATE_LOAD(__ldca)
CAPGATE_LOAD(__ldlu)
CAPGATE_LOAD(__ldcv)
#undef CAPGATE_LOAD
#define CAPGATE_STORE(NAME) \
  template <class T>        \
  __device__ void NAME(T*, T);
CAPGATE_STORE(__stcs)
CAPGATE_STORE(__stcg)
CAPGATE_STORE(__stwb)
CAPGATE_STORE(__stwt)
#undef CAPGATE_STORE

// nvcc's traits of lambdas with __device__, which are false of every other type. clang gives no means to tell
// such a lambda from a plain one, so they are false of it too: the arm for host code is the one that is
// judged. An argument that depends on a template's parameter must stay dependent, hence no plain `false`.
namespace capgate_nvcc {
template <class T>
constexpr bool no_lambda_of_nvcc() {
  return false;
}
}  // namespace capgate_nvcc
#define __nv_is_extended_device_lambda_closure_type(...) (::capgate_nvcc::no_lambda_of_nvcc<__VA_ARGS__>())
#define __nv_is_extended_host_device_lambda_closure_type(...) \
  (::capgate_nvcc::no_lambda_of_nvcc<__VA_ARGS__>())
#define __nv_is_extended_device_lambda_with_preserved_return_type(...) \
  (::capgate_nvcc::no_lambda_of_nvcc<__VA_ARGS__>())

#endif
