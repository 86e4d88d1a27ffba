// device-alloc: tensors that are made in a capture that torch did not begin.
#include <capgate/capgate.h>
#include <cuda_runtime.h>
#include <torch/torch.h>

#include <optional>

struct Weights {
  at::Tensor scratch;
};

void begun_by_hand(std::optional<at::Tensor> given, at::Tensor t, Weights& w, const at::TensorOptions& options, cudaStream_t s) {
  cudaGraph_t g;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  at::Tensor a = given ? given.value() : at::empty({4}, options);  // EXPECT: device-alloc:note
  if (!w.scratch.defined()) w.scratch = at::empty({4}, options);   // EXPECT: device-alloc:note
  at::Tensor like = at::empty_like(t);                             // EXPECT: device-alloc:note
  at::Tensor copy = t.clone();                                     // EXPECT: device-alloc:note
  at::Tensor zeros = torch::zeros({4}, at::kCUDA);                 // EXPECT: device-alloc:note
  at::Tensor host = torch::zeros({4});                             // CLEAN: device-alloc, on the host
  at::Tensor host_copy = host.clone();                             // CLEAN: device-alloc, on the host
  at::Tensor view = t.view({2, 2});                                // CLEAN: device-alloc, the same memory
  cudaStreamEndCapture(s, &g);
}

static at::Tensor helper(const at::Tensor& t) {
  return at::empty_like(t);  // EXPECT: device-alloc:note
}
void in_a_helper(const at::Tensor& t, cudaStream_t s) {
  cudaGraph_t g;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  helper(t);
  cudaStreamEndCapture(s, &g);
}

// The graph's own pool keeps them.
void begun_by_torch(at::cuda::CUDAGraph& graph, const at::Tensor& t, const at::TensorOptions& options) {
  graph.capture_begin();
  at::Tensor a = at::empty({4}, options);  // CLEAN: device-alloc
  at::Tensor b = at::empty_like(t);        // CLEAN: device-alloc
  at::Tensor c = t.clone();                // CLEAN: device-alloc
  at::Tensor d = torch::zeros({4}, at::kCUDA);  // CLEAN: device-alloc
  graph.capture_end();
}
// Who captures it is not in sight.
CAPGATE_REGION void step(const at::Tensor& t) {
  at::Tensor a = at::empty_like(t);  // CLEAN: device-alloc
  at::Tensor b = t.clone();          // CLEAN: device-alloc
}
