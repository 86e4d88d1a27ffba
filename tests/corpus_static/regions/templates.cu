// Captures in templates: what a call makes of one is looked at there; what only a virtual table or an explicit
// instantiation asks for, and what nothing here makes anything of, is read as it is written.
#include <cuda_runtime.h>

#include <cstddef>

__global__ void add(int* values) {
  values[threadIdx.x] += 1;
}

template <class T>
struct Optimizer {
  virtual void step(cudaStream_t stream, T* values) = 0;
  virtual ~Optimizer() {}
};

// A virtual method of a class that only `new` makes.
template <class T>
struct Captured : Optimizer<T> {
  void step(cudaStream_t stream, T* values) override {
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    add<<<1, 32, 0, stream>>>(reinterpret_cast<int*>(values));
    cudaStreamSynchronize(stream);  // EXPECT: host-sync
    cudaStreamEndCapture(stream, &graph_);
    cudaStreamSynchronize(stream);  // CLEAN: host-sync
  }
  cudaGraph_t graph_ = nullptr;
};
Optimizer<float>* made() {
  return new Captured<float>{};
}

// Made by a function template that only an explicit instantiation asks for.
template <class T>
struct Other : Optimizer<T> {
  void step(cudaStream_t stream, T* values) override {
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    cudaMemcpy(host_, values, sizeof host_, cudaMemcpyDeviceToHost);  // EXPECT: sync-copy
    cudaStreamEndCapture(stream, &graph_);
  }
  cudaGraph_t graph_ = nullptr;
  T host_[4];
};
template <class T>
Optimizer<T>* make(int which) {
  if (which == 1) return new Other<T>{};
  return nullptr;
}
template Optimizer<float>* make<float>(int);

// Explicit instantiations, of a function and of a class.
template <class T>
void run(cudaStream_t stream, T* values) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  add<<<1, 32, 0, stream>>>(reinterpret_cast<int*>(values));
  cudaStreamSynchronize(stream);  // EXPECT: host-sync
  cudaStreamEndCapture(stream, &graph);
  cudaStreamSynchronize(stream);  // CLEAN: host-sync
}
template void run<float>(cudaStream_t, float*);

template <class T>
struct Program {
  void run(cudaStream_t stream) {
    cudaGraph_t graph;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    add<<<1, 32, 0, stream>>>(reinterpret_cast<int*>(values));
    cudaFree(values);  // EXPECT: device-alloc
    cudaStreamEndCapture(stream, &graph);
  }
  T* values;
};
template struct Program<float>;

// Of which nothing is made here.
template <class T>
void unused(cudaStream_t stream, T* values) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  add<<<1, 32, 0, stream>>>(reinterpret_cast<int*>(values));
  cudaStreamSynchronize(stream);  // EXPECT: host-sync
  cudaStreamEndCapture(stream, &graph);
}
template <class T>
void unused_and_clean(cudaStream_t stream, T* values) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  add<<<1, 32, 0, stream>>>(reinterpret_cast<int*>(values));
  cudaStreamEndCapture(stream, &graph);
  cudaStreamSynchronize(stream);  // CLEAN: host-sync
}
template <class Work>
void captures(cudaStream_t stream, Work&& work) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  work(stream);  // EXPECT: not-analysed
  cudaStreamEndCapture(stream, &graph);
}
template <class T>
void chooses(cudaStream_t stream) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  if constexpr (sizeof(T) == 4) cudaStreamSynchronize(stream);  // EXPECT: not-analysed
  cudaStreamEndCapture(stream, &graph);
}

// Called: looked at as it is called, never as it is written.
template <bool kWait>
void called(cudaStream_t stream) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  if constexpr (kWait) cudaStreamSynchronize(stream);  // CLEAN: host-sync, never so called
  cudaStreamEndCapture(stream, &graph);
}
template <class Work>
void captures_work(cudaStream_t stream, Work&& work) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  work(stream);
  cudaStreamEndCapture(stream, &graph);
}
void calls(cudaStream_t stream, int* values) {
  called<false>(stream);
  captures_work(stream, [&](cudaStream_t s) { add<<<1, 32, 0, s>>>(values); });
}

// No capture: nothing is said of a template that nobody uses.
template <class T>
void no_capture(cudaStream_t stream, T* values) {
  cudaMemsetAsync(values, 0, 4, stream);
  cudaStreamSynchronize(stream);  // CLEAN: host-sync
}
