// A graph is built node by node. The builder owns the scratch that its nodes use, and is gone when the
// function that built the graph returns. Public fault: the lifetime question of NVIDIA/cuda-python#166.
#include "corpus.h"

class Builder {
 public:
  Builder() { CU(cudaMalloc(&scratch_, 1 << 20)); }
  ~Builder() { release(); }
  cudaGraph_t build(int* x) {
    CU(cudaGraphCreate(&graph_, 0));
    const cudaGraphNode_t filled = add_fill();
    add_kernel(x, filled);
    return graph_;
  }
  void keep() { kept_ = true; }

 private:
  cudaGraphNode_t add_fill() {
    cudaMemsetParams fill{};
    fill.dst = scratch_;
    fill.value = 3;
    fill.elementSize = sizeof(int);
    fill.width = fill.height = 1;
    cudaGraphNode_t node = nullptr;
    CU(cudaGraphAddMemsetNode(&node, graph_, nullptr, 0, &fill));
    return node;
  }
  void add_kernel(int* x, cudaGraphNode_t after) {
    const int* from = scratch_;
    void* arguments[] = {&x, &from};
    cudaKernelNodeParams kernel{};
    kernel.func = reinterpret_cast<void*>(copy_value);
    kernel.gridDim = kernel.blockDim = dim3(1);
    kernel.kernelParams = arguments;
    cudaGraphNode_t node = nullptr;
    CU(cudaGraphAddKernelNode(&node, graph_, &after, 1, &kernel));
  }
  void release() {
    if (!kept_) CU(cudaFree(scratch_));  // EXPECT: freed-memory error release
  }

  int* scratch_ = nullptr;
  cudaGraph_t graph_ = nullptr;
  bool kept_ = false;
};

static cudaGraphExec_t make_step(int* x) {
  Builder builder;
#ifdef CLEAN
  builder.keep();
#endif
  return corpus::instantiate(builder.build(x));
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* x = corpus::device_ints(1);
  const cudaGraphExec_t exec = make_step(x);
  int* tenant = corpus::device_ints((1 << 20) / sizeof(int));  // as large as the scratch
  CU(cudaGraphLaunch(exec, stream));
  CU(cudaStreamSynchronize(stream));
  const bool hurt = corpus::read_one(tenant) != 0;
  if (!corpus::kClean)
    return corpus::saw(true, hurt ? "the launch wrote into another buffer" : "the launch ran");
  return corpus::saw(!hurt && corpus::read_one(x) == 3, "a graph on memory of its own");
}
