// Whether a fault is one for everybody follows from the tests of host values on the way to it.
#include <cuda_runtime.h>

#include <cstdlib>
#include <map>
#include <stdexcept>

__global__ void kernel(float* p) {
  p[0] = 1;
}

struct Config {
  bool debug = false;
  int level = 0;
  int kind = 0;
};

static bool g_debug = false;
static bool from_the_environment() {
  static const bool set = std::getenv("DEBUG_SYNC") != nullptr;
  return set;
}

static void debug_sync(cudaStream_t s) {
  if (!g_debug) return;
  cudaStreamSynchronize(s);  // EXPECT: host-sync:warning
}
static void maybe(bool wait, cudaStream_t s) {
  if (wait) cudaStreamSynchronize(s);  // EXPECT: host-sync
}
static void not_here(bool wait, cudaStream_t s) {
  if (wait) cudaStreamSynchronize(s);  // CLEAN: host-sync
}
static void from_both(cudaStream_t s) {
  cudaStreamSynchronize(s);  // EXPECT: host-sync
}
static void from_one(cudaStream_t s) {
  cudaStreamSynchronize(s);  // EXPECT: host-sync:warning
}
static void dispatched(cudaStream_t s) {
  cudaStreamSynchronize(s);  // EXPECT: host-sync
}

static void step(const Config& cfg, int n, float* p, cudaStream_t s) {
  if (cfg.debug) cudaStreamSynchronize(s);                    // EXPECT: host-sync:warning
  if (cfg.level > 2 && cfg.debug) cudaDeviceSynchronize();    // EXPECT: host-sync:warning
  if (from_the_environment()) cudaStreamSynchronize(s);       // EXPECT: host-sync:warning
  const bool late = cfg.debug && cudaStreamQuery(s);          // EXPECT: host-poll:warning
  const int code = cfg.level ? cudaStreamSynchronize(s) : 0;  // EXPECT: host-sync:warning
  debug_sync(s);
  maybe(true, s);
  not_here(false, s);
  if (n > 4)
    from_both(s);
  else
    from_both(s);
  if (n > 4) from_one(s);
  switch (cfg.kind) {
    case 1:
      dispatched(s);
      break;
    case 2:
      dispatched(s);
      break;
    default:
      break;
  }
  // How often, and whether a call went well, is no setting.
  for (int i = 0; i < n; ++i) cudaStreamSynchronize(s);  // EXPECT: host-sync
  if (cudaGetLastError() == cudaSuccess) kernel<<<1, 1, 0, s>>>(p);
  if (n == 0) return;
  if (n < 0) throw std::runtime_error("n");
  cudaStreamSynchronize(s);  // EXPECT: host-sync
  (void)late, (void)code;
}

void captured(const Config& cfg, int n, float* p, cudaStream_t s) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  step(cfg, n, p, s);
  cudaStreamEndCapture(s, &graph);
}

// ---- a guard that closes itself, across functions
// -----------------------------------------------------------

struct Plan {
  int tile;
};
class Tuner {
 public:
  const Plan* find(int key) const {
    const auto it = plans_.find(key);
    return it == plans_.end() ? nullptr : &it->second;
  }
  void keep(int key, Plan plan) { plans_[key] = plan; }
  void run(int key, float* p, cudaStream_t s) {
    if (const Plan* plan = find(key)) {
      kernel<<<plan->tile, 1, 0, s>>>(p);
      return;
    }
    cudaStreamSynchronize(s);  // EXPECT: host-sync:note
    keep(key, Plan{4});
  }
  void grow(size_t size, float* from) {
    if (size > size_) {
      cudaMalloc(&room_, size);                                  // EXPECT: device-alloc:note
      cudaMemcpy(room_, from, size_, cudaMemcpyDeviceToDevice);  // EXPECT: sync-copy:note
      size_ = size;
    }
  }

 private:
  std::map<int, Plan> plans_;
  void* room_ = nullptr;
  size_t size_ = 0;
};

void tuned(Tuner& tuner, int key, size_t size, float* p, cudaStream_t s) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  tuner.run(key, p, s);
  tuner.grow(size, p);
  cudaStreamEndCapture(s, &graph);
}
