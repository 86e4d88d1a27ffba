// A cache of compiled kernels loads what it lacks and, when it is full, unloads what it has had longest. Met
// inside a capture, the load is let through; the unload that makes room for it ends the capture.
// Public faults: vllm-project/vllm#36587, jax-ml/jax#37094.
// CORPUS-BUILD: driver
#include <cuda.h>

#include <deque>
#include <string>

#include "corpus.h"

namespace {

// A kernel that adds `value` to the int that it is given.
std::string compiled(int value) {
  return R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry bump(.param .u64 bump_x) {
  .reg .b64 %rd<3>;
  .reg .b32 %r<3>;
  ld.param.u64 %rd1, [bump_x];
  cvta.to.global.u64 %rd2, %rd1;
  ld.global.u32 %r1, [%rd2];
  add.u32 %r2, %r1, )" +
         std::to_string(value) + R"(;
  st.global.u32 [%rd2], %r2;
  ret;
}
)";
}

class KernelCache {
 public:
  explicit KernelCache(size_t room) : room_(room) {}

  CUfunction get(int value) {
    for (const Entry& entry : entries_) {
      if (entry.value == value) return entry.function;
    }
    if (entries_.size() == room_) evict();
    Entry entry{value, nullptr, nullptr};
    if (cuModuleLoadData(&entry.module, compiled(value).c_str()) != CUDA_SUCCESS) return nullptr;
    if (cuModuleGetFunction(&entry.function, entry.module, "bump") != CUDA_SUCCESS) return nullptr;
    entries_.push_back(entry);
    return entry.function;
  }

 private:
  struct Entry {
    int value;
    CUmodule module;
    CUfunction function;
  };

  void evict() {
    const CUresult result = cuModuleUnload(entries_.front().module);  // EXPECT: lazy-load error evict
    if (result != CUDA_SUCCESS) std::printf("unloading a module: %d\n", static_cast<int>(result));
    entries_.pop_front();
  }

  size_t room_;
  std::deque<Entry> entries_;
};

void bump(KernelCache& cache, int* x, int value, CUstream stream) {
  const CUfunction function = cache.get(value);
  if (!function) return;
  void* arguments[] = {&x};
  cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr);
}

}  // namespace

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* x = corpus::device_ints(1);
  // The step uses two kernels, and the cache has room for one of them, or for both.
  KernelCache cache(corpus::kClean ? 2 : 1);
  bump(cache, x, 1, stream);
  CU(cudaStreamSynchronize(stream));
  if (corpus::kClean) {
    bump(cache, x, 10, stream);
    CU(cudaStreamSynchronize(stream));
  }
  const int before = corpus::read_one(x);

  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  bump(cache, x, 1, stream);
  bump(cache, x, 10, stream);
  const cudaGraph_t graph = corpus::end_capture(stream);
  if (graph) corpus::replay(graph, stream, 3);
  return corpus::capture_dies(graph, corpus::read_one(x) == before + 33);
}
