// A test of what the region itself counts or sets rules nothing out: each run takes both ways. A test of what
// comes from outside is a setting.
#include <cuda_runtime.h>

#include <algorithm>
#include <list>
#include <thread>
#include <vector>

struct Config {
  int layers = 0;
  int dumped_layer = -1;
  bool debug = false;
  int mode = 0;
};

// ---- loops ------------------------------------------------------------------------------------------------

static void loops(const Config& cfg, int n, cudaStream_t s) {
  for (int i = 0; i < n; ++i) {
    if (i == 3) cudaStreamSynchronize(s);                 // EXPECT: host-sync
    if (i % 4 == 0) cudaStreamSynchronize(s);             // EXPECT: host-sync
    if (i > 0) cudaStreamSynchronize(s);                  // EXPECT: host-sync
    if (i == n - 1) cudaStreamSynchronize(s);             // EXPECT: host-sync
    if (i == cfg.dumped_layer) cudaStreamSynchronize(s);  // EXPECT: host-sync:warning
    if (i > 0 && cfg.debug) cudaStreamSynchronize(s);     // EXPECT: host-sync:warning
    if (i == 5 || cfg.debug) cudaStreamSynchronize(s);    // EXPECT: host-sync
    if (i > 1 && i < n - 1) cudaStreamSynchronize(s);     // EXPECT: host-sync
    if (n > 4) cudaStreamSynchronize(s);                  // EXPECT: host-sync:warning
    const bool last = i + 1 == n;
    const int half = i / 2;
    if (last) cudaStreamSynchronize(s);       // EXPECT: host-sync
    if (half == 2) cudaStreamSynchronize(s);  // EXPECT: host-sync
    if (half != 2) continue;
    cudaDeviceSynchronize();  // EXPECT: host-sync
  }
  int k = cfg.layers;
  while (k-- > 0)
    if (k == 1) cudaStreamSynchronize(s);  // EXPECT: host-sync
  int at = 0;
  do {
    if (at == 2) cudaStreamSynchronize(s);  // EXPECT: host-sync
    at = at + 1;
  } while (at < n);
  bool first = true;
  for (int i = 0; i < n; ++i) {
    if (!first) cudaStreamSynchronize(s);  // EXPECT: host-sync
    first = false;
  }
  for (int i = 0; i < n; ++i) {
    switch (i % 3) {
      case 1:
        cudaStreamSynchronize(s);  // EXPECT: host-sync
        break;
      default:
        break;
    }
    const int error = i == 2 ? cudaStreamSynchronize(s) : 0;  // EXPECT: host-sync
    (void)error;
  }
}

static void over_objects(std::vector<int>& layers, std::list<int>& list, cudaStream_t s) {
  for (auto it = layers.begin(); it != layers.end(); ++it)
    if (it == layers.begin()) cudaStreamSynchronize(s);  // EXPECT: host-sync
  for (int& layer : layers)
    if (&layer == &layers.back()) cudaStreamSynchronize(s);  // EXPECT: host-sync
  for (int flag : list)
    if (flag == 7) cudaStreamSynchronize(s);  // EXPECT: host-sync:warning
}

static bool is_odd(int layer) {
  if (layer % 2) return true;
  return false;
}
static void through_calls(std::vector<int>& layers, int n, cudaStream_t s) {
  for (int i = 0; i < n; ++i) {
    if (is_odd(i)) cudaStreamSynchronize(s);            // EXPECT: host-sync
    if (std::min(i, 4) == 4) cudaStreamSynchronize(s);  // EXPECT: host-sync
  }
  if (is_odd(n)) cudaStreamSynchronize(s);  // EXPECT: host-sync:warning
  int k = 0;
  std::for_each(layers.begin(), layers.end(), [&](int) {
    if (k == 2) cudaStreamSynchronize(s);  // EXPECT: host-sync
    ++k;
  });
}

// ---- what is set on the way -------------------------------------------------------------------------------

class Model {
 public:
  explicit Model(const Config& cfg) : cfg_(cfg) {}
  void all(cudaStream_t s) {
    for (int i = 0; i < cfg_.layers; ++i) {
      layer_ = i;
      block(s);
    }
    layer_ = -1;
    copied_ = cfg_.debug;
    after(s);
  }
  void block(cudaStream_t s) {
    if (layer_ == 0) cudaStreamSynchronize(s);                // EXPECT: host-sync
    if (!layer_) cudaStreamSynchronize(s);                    // EXPECT: host-sync
    if (layer() == 2) cudaStreamSynchronize(s);               // EXPECT: host-sync
    if (layer_ == cfg_.layers - 1) cudaStreamSynchronize(s);  // EXPECT: host-sync
    if (cfg_.mode == 2) cudaStreamSynchronize(s);             // EXPECT: host-sync:warning
  }
  void after(cudaStream_t s) {
    if (copied_) cudaStreamSynchronize(s);  // EXPECT: host-sync:warning
    bool waits = false;
    if (cfg_.debug) waits = true;
    if (waits) cudaStreamSynchronize(s);  // EXPECT: host-sync:warning
    bool failed = false;
    if (cudaPeekAtLastError() != cudaSuccess) failed = true;
    if (failed) cudaStreamSynchronize(s);  // EXPECT: host-sync:warning
  }
  int layer() const { return layer_; }

 private:
  Config cfg_;
  int layer_ = 0;
  bool copied_ = false;
};

// Counted only behind the test, and in another function.
struct Counter {
  int step = 0;
  void run(cudaStream_t s) {
    if (step % 8 == 3) cudaStreamSynchronize(s);  // EXPECT: host-sync
    advance();
  }
  void advance() { ++step; }
};

// ---- parameters -------------------------------------------------------------------------------------------

static void named(int layer, cudaStream_t s) {
  if (layer == 1) cudaStreamSynchronize(s);  // EXPECT: host-sync
}
static void from_outside(int layer, cudaStream_t s) {
  if (layer == 1) cudaStreamSynchronize(s);  // EXPECT: host-sync:warning
}
static void last_of(int layer, int count, cudaStream_t s) {
  if (layer == count - 1) cudaStreamSynchronize(s);  // EXPECT: host-sync
}
static void deeper(int layer, cudaStream_t s) {
  named(layer + 1, s);
}
static void by_reference(int& layer, cudaStream_t s) {
  if (layer == 2) cudaStreamSynchronize(s);  // EXPECT: host-sync
  ++layer;
}
static void chosen(int mode, cudaStream_t s) {
  if (mode == 2) cudaStreamSynchronize(s);  // CLEAN: host-sync
}
static void down(int depth, cudaStream_t s) {
  if (depth == 0) {
    cudaStreamSynchronize(s);  // EXPECT: host-sync
    return;
  }
  down(depth - 1, s);
}
static void parameters(const Config& cfg, int outer, cudaStream_t s) {
  int counted = 0;
  for (int i = 0; i < cfg.layers; ++i) {
    deeper(i, s);
    last_of(i, cfg.layers, s);
    by_reference(counted, s);
  }
  from_outside(outer, s);
  chosen(1, s);
  down(outer, s);
}

// ---- the same, once for a program -------------------------------------------------------------------------

static int runs = 0;
static bool first_run = true;
static void warms_up(cudaStream_t s) {
  if (runs++ == 0) cudaStreamSynchronize(s);  // EXPECT: host-sync:note
  if (first_run) cudaStreamSynchronize(s);    // EXPECT: host-sync:note
  first_run = false;
}

void captured(const Config& cfg, int n, int outer, Model& model, Counter& counter, std::vector<int>& layers,
              std::list<int>& list, cudaStream_t s) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  loops(cfg, n, s);
  over_objects(layers, list, s);
  through_calls(layers, n, s);
  model.all(s);
  counter.run(s);
  parameters(cfg, outer, s);
  warms_up(s);
  cudaStreamEndCapture(s, &graph);
}

// A capture in each round of a loop.
void captures_each(int n, cudaStream_t s) {
  for (int i = 0; i < n; ++i) {
    cudaGraph_t graph;
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    if (i == 2) cudaStreamSynchronize(s);  // EXPECT: host-sync
    cudaStreamEndCapture(s, &graph);
  }
}

static void one_of_many(int index, cudaStream_t s) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal);
  if (index == 2) cudaStreamSynchronize(s);  // EXPECT: host-sync
  cudaStreamEndCapture(s, &graph);
}
void threads(int n, cudaStream_t* streams) {
  std::vector<std::thread> all;
  for (int i = 0; i < n; ++i) all.emplace_back(one_of_many, i, streams[i]);
  for (std::thread& one : all) one.join();
}
