// local-scratch: memory of a local that captured work keeps using when the local is gone.
#include <capgate/capgate.h>
#include <cuda_runtime.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

__global__ void work(const float* in, float* out);
__global__ void scaled(float* out, float factor);
void CUDART_CB callback(void* data);

struct Buffer {
  explicit Buffer(size_t n) { cudaMalloc(&memory, n); }  // EXPECT: device-alloc
  ~Buffer() { cudaFree(memory); }                        // EXPECT: device-alloc
  float* data() const { return memory; }
  float* memory = nullptr;
};
struct Async {
  Async(size_t n, cudaStream_t s) : stream(s) { cudaMallocAsync(&memory, n, s); }  // CLEAN: device-alloc
  ~Async() { cudaFreeAsync(memory, stream); }                                      // CLEAN: device-alloc
  float* data() const { return memory; }
  float* memory = nullptr;
  cudaStream_t stream;
};
struct View {
  float* memory;
  float* data() const { return memory; }
};

CAPGATE_REGION void device_memory(const float* x, cudaStream_t s) {
  Buffer own(64);
  work<<<1, 1, 0, s>>>(x, own.data());      // EXPECT: local-scratch
}
CAPGATE_REGION void by_its_member(const float* x, cudaStream_t s) {
  Buffer own(64);
  work<<<1, 1, 0, s>>>(x, own.memory);      // EXPECT: local-scratch
}
CAPGATE_REGION void from_an_offset(float* out, cudaStream_t s) {
  Buffer own(64);
  float* half = own.data() + 8;
  work<<<1, 1, 0, s>>>(half, out);          // EXPECT: local-scratch
}

CAPGATE_REGION void host_memory(float* d, cudaStream_t s) {
  float local[4] = {};
  work<<<1, 1, 0, s>>>(local, d);         // EXPECT: local-scratch
  std::vector<float> list(4);
  work<<<1, 1, 0, s>>>(list.data(), d);   // EXPECT: local-scratch
  std::array<float, 4> fixed = {};
  work<<<1, 1, 0, s>>>(fixed.data(), d);  // EXPECT: local-scratch
}

CAPGATE_REGION void callbacks(cudaStream_t s) {
  int counter = 0;
  cudaLaunchHostFunc(s, callback, &counter);  // EXPECT: host-node:warning, local-scratch
  std::string name = "step";
  cudaLaunchHostFunc(s, callback, &name);     // EXPECT: host-node:warning, local-scratch
}

void inner(const float* x, Buffer& borrowed, cudaStream_t s) {
  work<<<1, 1, 0, s>>>(x, borrowed.data());  // CLEAN: local-scratch, the caller's buffer outlives the graph
}
void whole(const float* x, cudaStream_t s) {
  Buffer own(64);
  cudaGraph_t g;
  cudaGraphExec_t exec;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  inner(x, own, s);
  cudaStreamEndCapture(s, &g);
  cudaGraphInstantiate(&exec, g, 0);
  cudaGraphLaunch(exec, s);
  cudaStreamSynchronize(s);
}

CAPGATE_REGION void in_the_graph(const float* x, cudaStream_t s) {
  Async own(64, s);
  work<<<1, 1, 0, s>>>(x, own.data());  // CLEAN: local-scratch, allocated and freed by nodes
  float* block;
  cudaMallocAsync(&block, 64, s);       // CLEAN: device-alloc
  work<<<1, 1, 0, s>>>(x, block);       // CLEAN: local-scratch
  cudaFreeAsync(block, s);              // CLEAN: device-alloc
}

// A local that owns nothing; a local that is copied into the launch.
CAPGATE_REGION void by_value(const float* x, float* kept, cudaStream_t s) {
  View view{kept};
  work<<<1, 1, 0, s>>>(x, view.data());       // CLEAN: local-scratch
  float* alias = kept;
  work<<<1, 1, 0, s>>>(x, alias);             // CLEAN: local-scratch
  float factor = 2;
  scaled<<<1, 1, 0, s>>>(kept, factor);       // CLEAN: local-scratch
  void* arguments[] = {&kept, &factor};
  cudaLaunchKernel(reinterpret_cast<const void*>(scaled), dim3(1), dim3(1), arguments, 0, s);  // CLEAN: local-scratch
  std::vector<float*> tables = {kept};
  work<<<1, 1, 0, s>>>(x, tables[0]);         // CLEAN: local-scratch
}

class Layer {
 public:
  CAPGATE_REGION void forward(const float* x, cudaStream_t s) {
    work<<<1, 1, 0, s>>>(x, scratch_.data());  // CLEAN: local-scratch, a member
    cudaLaunchHostFunc(s, callback, &steps_);  // EXPECT: host-node:warning // CLEAN: local-scratch
  }

 private:
  Buffer scratch_{64};
  int steps_ = 0;
};
void use(Layer& layer, const float* x, cudaStream_t s) { layer.forward(x, s); }

void outside(const float* x, cudaStream_t s) {
  Buffer own(64);
  work<<<1, 1, 0, s>>>(x, own.data());        // CLEAN: local-scratch
  int counter = 0;
  cudaLaunchHostFunc(s, callback, &counter);  // CLEAN: local-scratch, host-node
  cudaStreamSynchronize(s);                   // CLEAN: host-sync
}
