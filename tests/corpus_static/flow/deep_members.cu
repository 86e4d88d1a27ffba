// What a member of a member's member points to is not the members that lie beside the pointer.
// OPTIONS: --whole-file
#include <cuda_runtime.h>

#include <memory>
#include <vector>

struct Buffer {
  void* get() const { return memory_; }
  void* memory_ = nullptr;
  size_t bytes_ = 0;
};
struct Mirror {
  virtual void to_host(cudaStream_t stream) = 0;
  virtual ~Mirror() {}
};
struct Both : Mirror {
  void to_host(cudaStream_t stream) override {
    cudaMemcpyAsync(host_.get(), device_.get(), size_, cudaMemcpyDeviceToHost, stream);  // CLEAN: device-sized
  }
  size_t size_ = 0;
  Buffer host_, device_;
};
struct Output {
  Mirror* buffer() { return mirror_.get(); }
  std::unique_ptr<Mirror> mirror_{new Both};
};
struct Binding {
  std::unique_ptr<Mirror> buffer;
  Output* output = nullptr;
  bool input = true;
};
void to_host(std::vector<Binding>& bindings, std::vector<int>& names, cudaStream_t stream) {
  for (auto& n : names) {
    if (bindings[n].input) continue;
    if (bindings[n].output != nullptr)  // CLEAN: host-branch
      bindings[n].output->buffer()->to_host(stream);
    else
      bindings[n].buffer->to_host(stream);
  }
}

// What it points to is a device value, however deep.
struct Inner {
  int* count;
  int limit;
};
struct Middle {
  Inner inner;
};
struct Outer {
  Middle* middle;
};
void deep(std::vector<Outer>& outers, int* device, cudaStream_t stream) {
  cudaMemcpyAsync(outers[0].middle->inner.count, device, 4, cudaMemcpyDeviceToHost, stream);
  if (outers[0].middle->inner.limit > 3) cudaStreamSynchronize(stream);  // CLEAN: host-branch
  if (outers[0].middle->inner.count[0] > 3) cudaStreamSynchronize(stream);  // EXPECT: host-branch:warning
}
