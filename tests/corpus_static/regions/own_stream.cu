// A capture cannot begin on the null stream: the other arm of such a test does not run in one. A test that
// began the capture says later whether there is one.
#include <cuda_runtime.h>

__global__ void kernel(float* p) {
  p[0] = 1;
}

struct Config {
  cudaStream_t stream = nullptr;
};

static void add(float* p, cudaStream_t s) {
  if (s)
    kernel<<<1, 1, 0, s>>>(p);
  else
    kernel<<<1, 1>>>(p);  // CLEAN: default-stream
}
static void add_untyped(float* p, void* stream) {
  if (stream == nullptr) {
    kernel<<<1, 1>>>(p);      // CLEAN: default-stream
    cudaDeviceSynchronize();  // CLEAN: host-sync
  } else {
    kernel<<<1, 1, 0, static_cast<cudaStream_t>(stream)>>>(p);
  }
}
static void add_of_config(float* p, Config* config) {
  cudaStream_t s = config ? config->stream : nullptr;
  if (!s) {
    kernel<<<1, 1>>>(p);  // CLEAN: default-stream
    return;
  }
  kernel<<<1, 1, 0, s>>>(p);
}
static void beside(float* p, cudaStream_t other) {
  if (other)
    kernel<<<1, 1, 0, other>>>(p);
  else
    kernel<<<1, 1>>>(p);  // EXPECT: default-stream:note
}

void captured(float* p, Config* config, cudaStream_t other) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(config->stream, cudaStreamCaptureModeGlobal);
  add(p, config->stream);
  add_untyped(p, config->stream);
  add_of_config(p, config);
  beside(p, other);
  cudaStreamEndCapture(config->stream, &graph);
}

static void begin(cudaStream_t s) {
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
}

void by_a_parameter(float* p, cudaStream_t s) {
  cudaGraph_t graph;
  begin(s);
  add(p, s);
  cudaStreamEndCapture(s, &graph);
}

void only_if(bool use_graph, float* p, cudaStream_t s) {
  cudaGraph_t graph;
  if (use_graph) cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  kernel<<<1, 1, 0, s>>>(p);
  if (!use_graph) cudaStreamSynchronize(s);  // CLEAN: host-sync
  if (use_graph) cudaStreamSynchronize(s);   // EXPECT: host-sync
  if (use_graph) cudaStreamEndCapture(s, &graph);
  cudaStreamSynchronize(s);  // CLEAN: host-sync
}
