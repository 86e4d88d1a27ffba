// one-time-init.
#include <capgate/capgate.h>
#include <cuda_runtime.h>

#include <mutex>

__global__ void plan(int* p);
__global__ void work(const int* p);
static bool g_planned;
void note_ready() {}

static int make_table(int* p, cudaStream_t s) {
  plan<<<1, 1, 0, s>>>(p);  // CLEAN: one-time-init
  return 1;
}

CAPGATE_REGION void flags(int* p, cudaStream_t s) {
  static bool planned = false;
  if (!planned) {
    plan<<<1, 1, 0, s>>>(p);  // EXPECT: one-time-init:warning
    planned = true;
  }
  if (g_planned == false) {
    make_table(p, s);  // EXPECT: one-time-init:warning
    g_planned = true;
  }
  static int table = make_table(p, s);  // EXPECT: one-time-init:warning
  work<<<table, 1, 0, s>>>(p);
}

class Attention {
 public:
  CAPGATE_REGION void forward(cudaStream_t s) {
    ensure(s);
    work<<<1, 1, 0, s>>>(p_);
  }

 private:
  void ensure(cudaStream_t s) {
    if (ready_) return;
    plan<<<1, 1, 0, s>>>(p_);  // EXPECT: one-time-init:warning
    ready_ = true;
  }
  bool ready_ = false;
  int* p_ = nullptr;
};

void use(Attention& a, cudaStream_t s) { a.forward(s); }

CAPGATE_REGION void once(int* p, cudaStream_t s) {
  static std::once_flag flag;
  std::call_once(flag, [&] {
    plan<<<1, 1, 0, s>>>(p);  // EXPECT: one-time-init:warning
  });
}

CAPGATE_REGION void no_launch_behind_the_guard(int* p, cudaStream_t s) {
  static bool ready = false;
  if (!ready) {
    note_ready();  // CLEAN: one-time-init
    ready = true;
  }
  static const int size = 64;  // CLEAN: one-time-init
  work<<<size, 1, 0, s>>>(p);
}

CAPGATE_REGION void not_once(int* p, bool first, cudaStream_t s) {
  if (!first) {
    plan<<<1, 1, 0, s>>>(p);  // CLEAN: one-time-init, a parameter closes nothing
    first = true;
  }
}

void outside(int* p, cudaStream_t s) {
  static bool planned = false;
  if (!planned) {
    plan<<<1, 1, 0, s>>>(p);  // CLEAN: one-time-init
    planned = true;
  }
}
