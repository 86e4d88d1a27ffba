// host-pointer: kernels that are given ordinary host memory; local-scratch where it goes with a local.
#include <capgate/capgate.h>
#include <cuda_runtime.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

__global__ void kernel(const float* p);
template <class T>
struct pinned_allocator {
  using value_type = T;
  T* allocate(size_t n) {
    void* p = nullptr;
    cudaMallocHost(&p, n * sizeof(T));
    return static_cast<T*>(p);
  }
  void deallocate(T* p, size_t) { cudaFreeHost(p); }
};
struct Unpin {
  void operator()(float* p) const { cudaFreeHost(p); }
};
// Its objects lie where the device reads them.
struct Shared {
  void* operator new(size_t n) {
    void* p = nullptr;
    cudaMallocManaged(&p, n);  // EXPECT: device-alloc
    return p;
  }
  void operator delete(void* p) { cudaFree(p); }
  float value = 0;
};
struct Derived : Shared {};
struct Plain {
  float value = 0;
};
__global__ void reads(const Shared* p);
__global__ void reads_plain(const Plain* p);

class Layer {
 public:
  CAPGATE_REGION void of_members(cudaStream_t s) {
    kernel<<<1, 1, 0, s>>>(list_.data());            // EXPECT: host-pointer:warning
    kernel<<<1, 1, 0, s>>>(&list_[2]);               // EXPECT: host-pointer:warning
    kernel<<<1, 1, 0, s>>>(owned_.get());            // EXPECT: host-pointer:warning
    kernel<<<1, 1, 0, s>>>(pinned_list_.data());     // CLEAN: host-pointer, its allocator pins it
    kernel<<<1, 1, 0, s>>>(pinned_owned_.get());     // CLEAN: host-pointer, its deleter says so
    kernel<<<1, 1, 0, s>>>(counted_.get());          // CLEAN: host-pointer, nobody knows the deleter
    kernel<<<1, 1, 0, s>>>(raw_);                    // CLEAN: host-pointer, nothing is known of it
    kernel<<<1, 1, 0, s>>>(fixed_);                  // CLEAN: host-pointer, the object may be anywhere
    reads<<<1, 1, 0, s>>>(shared_.get());            // CLEAN: host-pointer, managed by its own operator new
    reads<<<1, 1, 0, s>>>(derived_.get());           // CLEAN: host-pointer, by its base's
    reads_plain<<<1, 1, 0, s>>>(plain_.get());       // EXPECT: host-pointer:warning
    cudaLaunchHostFunc(s, callback, list_.data());   // EXPECT: host-node:warning // CLEAN: host-pointer, the host reads it
  }

 private:
  static void CUDART_CB callback(void*) {}
  std::vector<float> list_;
  std::vector<float, pinned_allocator<float>> pinned_list_;
  std::unique_ptr<float[]> owned_;
  std::unique_ptr<float[], Unpin> pinned_owned_;
  std::shared_ptr<float> counted_;
  std::unique_ptr<Shared> shared_;
  std::unique_ptr<Derived> derived_;
  std::unique_ptr<Plain> plain_;
  float* raw_;
  float fixed_[4];
};
void use(Layer& layer, cudaStream_t s) { layer.of_members(s); }

CAPGATE_REGION void from_new(cudaStream_t s) {
  float* block = new float[4];
  kernel<<<1, 1, 0, s>>>(block);  // EXPECT: host-pointer:warning
  delete[] block;
  float* taken = static_cast<float*>(std::malloc(16));
  kernel<<<1, 1, 0, s>>>(taken);  // EXPECT: host-pointer:warning
  std::free(taken);
  Shared* managed = new Shared;
  reads<<<1, 1, 0, s>>>(managed);  // CLEAN: host-pointer
  delete managed;
  auto made = std::make_unique<Derived>();
  reads<<<1, 1, 0, s>>>(made.get());  // CLEAN: host-pointer, local-scratch
}
CAPGATE_REGION void by_its_own_pointer(cudaStream_t s) {
  auto array = std::make_unique<float[]>(4);
  kernel<<<1, 1, 0, s>>>(array.get());  // EXPECT: local-scratch
  std::unique_ptr<float[]> made(new float[4]);
  kernel<<<1, 1, 0, s>>>(made.get());  // EXPECT: local-scratch
  auto counted = std::make_shared<float>(1.0f);
  kernel<<<1, 1, 0, s>>>(counted.get());  // EXPECT: host-pointer:warning
}
// What is handed on does not end here.
struct Owner {
  std::vector<float> list;
  std::unique_ptr<float[]> array;
};
CAPGATE_REGION std::unique_ptr<float[]> returned(cudaStream_t s) {
  auto array = std::make_unique<float[]>(4);
  kernel<<<1, 1, 0, s>>>(array.get());  // EXPECT: host-pointer:warning
  return array;
}
CAPGATE_REGION void moved(Owner& owner, cudaStream_t s) {
  auto array = std::make_unique<float[]>(4);
  kernel<<<1, 1, 0, s>>>(array.get());  // EXPECT: host-pointer:warning
  owner.array = std::move(array);
  std::vector<float> list(4);
  kernel<<<1, 1, 0, s>>>(list.data());  // EXPECT: host-pointer:warning
  owner.list = std::move(list);
}
// The locals live on while the graph is captured, and perhaps while it is launched.
void captured_here(cudaStream_t s) {
  std::vector<float> list(4);
  float fixed[4] = {};
  std::vector<float> registered(4);
  cudaHostRegister(registered.data(), 16, cudaHostRegisterDefault);
  float *pinned, *managed;
  cudaMallocHost(&pinned, 16);
  cudaMallocManaged(&managed, 16);
  const void* arguments[] = {&pinned};
  cudaGraph_t g;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  kernel<<<1, 1, 0, s>>>(list.data());        // EXPECT: host-pointer:warning
  kernel<<<1, 1, 0, s>>>(fixed);              // EXPECT: host-pointer:warning
  kernel<<<1, 1, 0, s>>>(registered.data());  // CLEAN: host-pointer
  kernel<<<1, 1, 0, s>>>(pinned);             // CLEAN: host-pointer
  kernel<<<1, 1, 0, s>>>(managed);            // CLEAN: host-pointer
  cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(1), const_cast<void**>(arguments), 0, s);  // CLEAN: host-pointer
  cudaStreamEndCapture(s, &g);
  kernel<<<1, 1, 0, s>>>(list.data());  // CLEAN: host-pointer, no graph keeps it
}
