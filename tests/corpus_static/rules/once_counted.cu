// one-time-init, by flags that begin as true and by counters.
#include <capgate/capgate.h>
#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>

__global__ void plan(int* p);

CAPGATE_REGION void by_a_first_flag(int* p, cudaStream_t s) {
  static bool first = true;
  if (first) {
    plan<<<1, 1, 0, s>>>(p);  // EXPECT: one-time-init:warning
    first = false;
  }
}

CAPGATE_REGION void by_a_counter(int* p, cudaStream_t s) {
  static int calls = 0;
  if (calls++ == 0) plan<<<1, 1, 0, s>>>(p);  // EXPECT: one-time-init:warning
}

CAPGATE_REGION void by_a_counter_that_is_counted_later(int* p, cudaStream_t s) {
  static int calls = 0;
  if (calls == 0) plan<<<1, 1, 0, s>>>(p);  // EXPECT: one-time-init:warning
  ++calls;
}

CAPGATE_REGION void every_other_time(int* p, cudaStream_t s) {
  static int calls = 0;
  if (calls++ % 2 == 0) plan<<<1, 1, 0, s>>>(p);  // CLEAN: one-time-init
  static bool on = true;
  if (on) plan<<<1, 1, 0, s>>>(p);  // CLEAN: one-time-init
}

// A function is looked up once; nothing is launched on the way.
CAPGATE_REGION void a_pointer_that_is_looked_up(int* p, cudaStream_t s) {
  static const auto launch = [] {
    return reinterpret_cast<decltype(&cuLaunchKernel)>(dlsym(nullptr, "cuLaunchKernel"));  // CLEAN: one-time-init
  }();
  (void)launch;
  plan<<<1, 1, 0, s>>>(p);
}
