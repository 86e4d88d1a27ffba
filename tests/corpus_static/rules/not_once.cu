// one-time-init: guards that look as if they close and do not, and work behind none.
#include <capgate/capgate.h>
#include <cuda_runtime.h>

#include <mutex>

__global__ void plan(int* p);
__global__ void work(const int* p);
static bool wanted;

class Cache {
 public:
  CAPGATE_REGION void step(cudaStream_t s) {
    if (!plan_) {
      plan_ = memory_;
      plan<<<1, 1, 0, s>>>(plan_);  // EXPECT: one-time-init:warning
    }
    work<<<1, 1, 0, s>>>(plan_);    // CLEAN: one-time-init
  }

 private:
  int *plan_ = nullptr, *memory_ = nullptr;
};
void use(Cache& cache, cudaStream_t s) {
  cache.step(s);
}

// The flag is the user's: it is not closed here.
CAPGATE_REGION void by_an_option(int* p, cudaStream_t s) {
  if (wanted) plan<<<1, 1, 0, s>>>(p);   // CLEAN: one-time-init
  if (!wanted) work<<<1, 1, 0, s>>>(p);  // CLEAN: one-time-init
}
// Opened again in the same step.
CAPGATE_REGION void every_step(int* p, cudaStream_t s) {
  bool first = true;
  for (int i = 0; i < 4; ++i) {
    if (first) plan<<<1, 1, 0, s>>>(p);  // CLEAN: one-time-init, a local of the step
    first = false;
  }
}
CAPGATE_REGION void a_lock_is_no_guard(int* p, cudaStream_t s) {
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  plan<<<1, 1, 0, s>>>(p);               // CLEAN: one-time-init
}
CAPGATE_REGION void a_table_of_the_host(int* p, cudaStream_t s) {
  static const int sizes[] = {64, 128};
  static int calls = 0;
  ++calls;                               // CLEAN: one-time-init
  work<<<sizes[1], 1, 0, s>>>(p);        // CLEAN: one-time-init
}
// Done at start.
class Planned {
 public:
  explicit Planned(cudaStream_t s) {
    if (ready_) return;
    plan<<<1, 1, 0, s>>>(p_);            // CLEAN: one-time-init, before the capture
    ready_ = true;
  }
  void capture(cudaStream_t s) {
    cudaGraph_t g;
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    work<<<1, 1, 0, s>>>(p_);            // CLEAN: one-time-init
    cudaStreamEndCapture(s, &g);
  }

 private:
  bool ready_ = false;
  int* p_ = nullptr;
};
void planned(cudaStream_t s) {
  Planned made(s);
  made.capture(s);
}
