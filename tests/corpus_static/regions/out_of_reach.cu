// Waits beside a capture that no way through it comes to.
#include <cuda_runtime.h>

#include <functional>
#include <vector>

using Fn = void (*)(cudaStream_t);

__global__ void kernel(float* p) {
  p[0] = 1;
}
static void idle(cudaStream_t) {}
static void launch(cudaStream_t s) {
  kernel<<<1, 1, 0, s>>>(nullptr);
}
static void waits(cudaStream_t s) {
  cudaStreamSynchronize(s);  // CLEAN: host-sync
}

static const Fn kKernels[] = {idle, launch};
static const Fn kBetweenSteps[] = {idle, waits};

struct Guard {
  explicit Guard(cudaStream_t stream) : s(stream) {}
  ~Guard() { cudaStreamSynchronize(s); }  // CLEAN: host-sync
  cudaStream_t s;
};
struct Layer {
  virtual ~Layer() = default;
  virtual void run(cudaStream_t s) = 0;
  virtual void load(cudaStream_t s) { cudaStreamSynchronize(s); }  // CLEAN: host-sync
};
struct Linear : Layer {
  void run(cudaStream_t s) override { kernel<<<1, 1, 0, s>>>(nullptr); }
  void load(cudaStream_t s) override { cudaStreamSynchronize(s); }  // CLEAN: host-sync
};

template <bool Debug>
static void checked(cudaStream_t s) {
  if constexpr (Debug) cudaStreamSynchronize(s);  // CLEAN: host-sync
  kernel<<<1, 1, 0, s>>>(nullptr);
}
static void with_flag(cudaStream_t s, bool wait = false) {
  kernel<<<1, 1, 0, s>>>(nullptr);
  if (wait) cudaStreamSynchronize(s);  // CLEAN: host-sync
}
static void unless_capturing(cudaStream_t s) {
  cudaStreamCaptureStatus status;
  cudaStreamIsCapturing(s, &status);
  if (status == cudaStreamCaptureStatusNone) cudaStreamSynchronize(s);  // CLEAN: host-sync
}
static Fn pick(int d) {
  switch (d) {
    case 1:
      return idle;
    default:
      return launch;
  }
}

static void step(Layer& layer, int d, cudaStream_t s) {
  const auto later = [s] { cudaStreamSynchronize(s); };  // CLEAN: host-sync
  std::vector<std::function<void()>> kept;
  kept.push_back(later);
  kKernels[d](s);
  pick(d)(s);
  (d ? idle : launch)(s);
  layer.run(s);
  checked<false>(s);
  with_flag(s);
  unless_capturing(s);
}

void captured(Layer& layer, int d, cudaStream_t s) {
  Guard ends_after_the_capture(s);
  cudaStreamSynchronize(s);  // CLEAN: host-sync
  layer.load(s);
  cudaGraph_t graph;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  step(layer, d, s);
  cudaStreamEndCapture(s, &graph);
  kBetweenSteps[d](s);
  cudaDeviceSynchronize();  // CLEAN: host-sync
}
