// A tensor is a handle: what it refers to is counted, and lives as long as any of its handles. What a scope
// owns alone dies with it.
#include <cuda_runtime.h>
#include <torch/torch.h>

#include <memory>
#include <vector>

__global__ void kernel(float* p);

struct Layer {
  at::Tensor weight;
};
struct Block {
  float values[8];
};

static void by_value(at::Tensor x, cudaStream_t s) {
  kernel<<<1, 1, 0, s>>>(x.data_ptr<float>());  // CLEAN: local-scratch
}
static void copied(const at::Tensor& x, cudaStream_t s) {
  at::Tensor y = x;
  kernel<<<1, 1, 0, s>>>(y.data_ptr<float>());  // CLEAN: local-scratch
}
static void viewed(const at::Tensor& x, cudaStream_t s) {
  at::Tensor y = x[0];
  kernel<<<1, 1, 0, s>>>(y.data_ptr<float>());  // CLEAN: local-scratch
}
static at::Tensor given_back(const at::Tensor& x, cudaStream_t s) {
  at::Tensor o = at::empty_like(x);  // EXPECT: device-alloc:note
  kernel<<<1, 1, 0, s>>>(o.data_ptr<float>());  // CLEAN: local-scratch
  return o;
}
static void in_a_struct(Layer layer, cudaStream_t s) {
  kernel<<<1, 1, 0, s>>>(layer.weight.data_ptr<float>());  // CLEAN: local-scratch
}
static void in_a_vector(cudaStream_t s) {
  std::vector<float> v(8);
  kernel<<<1, 1, 0, s>>>(v.data());  // EXPECT: local-scratch
}
static void in_an_array(cudaStream_t s) {
  float v[8] = {};
  kernel<<<1, 1, 0, s>>>(v);  // EXPECT: local-scratch
}
static void in_a_users_struct(Block block, cudaStream_t s) {
  kernel<<<1, 1, 0, s>>>(block.values);  // EXPECT: local-scratch
}

void captured(const at::Tensor& x, Layer layer, cudaStream_t s) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  by_value(x, s);
  copied(x, s);
  viewed(x, s);
  given_back(x, s);
  in_a_struct(layer, s);
  in_a_vector(s);
  in_an_array(s);
  in_a_users_struct(Block{}, s);
  cudaStreamEndCapture(s, &graph);
}
