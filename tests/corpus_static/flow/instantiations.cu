// What clang makes of templates is analysed as it is made: with the types known, and only the arms that are
// taken. However often a template is used, a line in it is one finding.
#include <cuda_runtime.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

__global__ void add(float* values) {
  values[threadIdx.x] += 1;
}

// Overriders in class templates: called through the base alone, and made by whatever makes an object.
template <class T>
struct Layer {
  virtual void eval(T* values, cudaStream_t stream) = 0;
  virtual void close(cudaStream_t) {}
  virtual ~Layer() = default;
};
template <class T>
struct Linear : Layer<T> {
  void eval(T* values, cudaStream_t stream) override {
    add<<<1, 32, 0, stream>>>(reinterpret_cast<float*>(values));
    cudaStreamSynchronize(stream);  // EXPECT: host-sync
  }
};
template <class T>
struct Norm : Layer<T> {
  void eval(T* values, cudaStream_t stream) override {
    T host[4];
    cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost);  // EXPECT: sync-copy
  }
  void close(cudaStream_t stream) override { cudaStreamSynchronize(stream); }  // EXPECT: host-sync
};
template <>
struct Norm<int> : Layer<int> {
  void eval(int* values, cudaStream_t stream) override { cudaFree(values); }  // EXPECT: device-alloc
};
std::vector<std::unique_ptr<Layer<float>>> layers() {
  std::vector<std::unique_ptr<Layer<float>>> made;
  made.push_back(std::make_unique<Linear<float>>());
  made.emplace_back(new Norm<float>);
  return made;
}
Layer<int>* whole() {
  return new Norm<int>;
}
void forward(Layer<float>& layer, Layer<int>& of_int, float* values, int* numbers, cudaStream_t stream) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  layer.eval(values, stream);
  layer.close(stream);
  of_int.eval(numbers, stream);
  cudaStreamEndCapture(stream, &graph);
}

// Calls on dependent types. Both uses are looked at, and a line is told of once.
struct Slow {
  void run(cudaStream_t stream) { cudaStreamSynchronize(stream); }  // EXPECT: host-sync
};
struct Quick {
  void run(cudaStream_t stream) { cudaMemsetAsync(values, 0, 4, stream); }
  float* values;
};
template <class Op, class T>
struct Model {
  void capture(cudaStream_t stream) {
    cudaGraph_t graph;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    op.run(stream);
    step(stream);
    cudaStreamEndCapture(stream, &graph);
  }
  void step(cudaStream_t stream) {
    T* values = tensors.at("w");
    cudaMemcpy(host, values, sizeof(T), cudaMemcpyDeviceToHost);  // EXPECT: sync-copy
  }
  Op op;
  std::map<std::string, T*> tensors;
  T host[4];
};
template struct Model<Slow, float>;
void uses(Model<Quick, int>& model, cudaStream_t stream) {
  model.capture(stream);
}

// Only the arm that is taken.
template <int kKind>
void chooses(cudaStream_t stream, float* values) {
  if constexpr (kKind == 0)
    cudaStreamSynchronize(stream);  // CLEAN: host-sync, of which nothing is made in a capture
  else if constexpr (kKind == 1)
    cudaDeviceSynchronize();  // EXPECT: host-sync
  else
    add<<<1, 32, 0, stream>>>(values);
}

// Generic lambdas, as they are called.
template <class Work>
void twice(Work work, cudaStream_t stream) {
  work(stream, 1);
  work(stream, 2.0F);
}

// Members of classes that are made in part, of other templates, and without an object.
template <class T, int kN>
struct Buffer {
  static void clear(T* values, cudaStream_t stream) { cudaMemset(values, 0, kN); }
  template <class U>
  void fill(U value, cudaStream_t stream) {
    cudaStreamSynchronize(stream);  // EXPECT: host-sync
  }
};
template <class T>
struct Buffer<T, 0> {
  void none(cudaStream_t stream) { cudaStreamSynchronize(stream); }  // EXPECT: host-sync
};
template <class Derived>
struct Counted {
  void run(cudaStream_t stream) { static_cast<Derived*>(this)->wait(stream); }
};
struct Waits : Counted<Waits> {
  void wait(cudaStream_t stream) { cudaStreamSynchronize(stream); }  // EXPECT: host-sync
};
template <class... Parts>
void all(cudaStream_t stream, Parts&... parts) {
  (parts.run(stream), ...);
}
struct Last {
  void run(cudaStream_t stream) { cudaStreamSynchronize(stream); }  // EXPECT: host-sync
};

void captured(cudaStream_t stream, float* values, Waits& waits, Quick& quick, Last& last) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  chooses<1>(stream, values);
  chooses<2>(stream, values);
  twice([&](cudaStream_t s, auto x) {
    add<<<1, 32, 0, s>>>(values);
    if (x > 0) cudaStreamSynchronize(s);  // EXPECT: host-sync
  }, stream);
  Buffer<float, 4> four;
  four.fill(3, stream);
  Buffer<float, 0>().none(stream);
  waits.run(stream);
  all(stream, quick, last);
  cudaStreamEndCapture(stream, &graph);
}
void outside(cudaStream_t stream, float* values) {
  chooses<0>(stream, values);
}
