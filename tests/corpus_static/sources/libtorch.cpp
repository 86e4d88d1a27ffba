// libtorch: reading a tensor's values, and shapes that depend on values.
#include <capgate/capgate.h>
#include <torch/torch.h>

void act() {}

CAPGATE_REGION void values(const torch::Tensor& t, const torch::Tensor& other) {
  if (t.item<int>() > 0) act();  // EXPECT: host-branch, host-sync
  if (t.is_nonzero()) act();     // EXPECT: host-branch, host-sync
  if (t.equal(other)) act();     // EXPECT: host-branch, host-sync
  float sum = t.sum().item<float>();  // EXPECT: host-sync
  if (sum > 1) act();                 // EXPECT: host-branch
}

CAPGATE_REGION void to_the_host(const torch::Tensor& t) {
  torch::Tensor h = t.cpu();          // EXPECT: host-sync
  if (h.data_ptr<int>()[0]) act();    // EXPECT: host-branch
  torch::Tensor g = t.to(torch::kCPU);  // EXPECT: host-sync
  int* p = g.data_ptr<int>();
  for (int i = 0; i < p[0]; ++i) act();  // EXPECT: device-sized
}

CAPGATE_REGION void shapes(const torch::Tensor& t) {
  torch::Tensor rows = t.nonzero();  // EXPECT: host-sync
  if (rows.size(0) > 0) act();       // EXPECT: host-branch
  torch::Tensor picked = t.masked_select(t > 0.5);  // EXPECT: host-sync
  if (picked.numel()) act();                        // EXPECT: host-branch
  torch::Tensor masked = t.index({t > 0.5});
  if (masked.size(0)) act();  // EXPECT: host-branch
}

CAPGATE_REGION void waits() {
  torch::cuda::synchronize();  // EXPECT: host-sync
}

CAPGATE_REGION void what_the_host_knows(const torch::Tensor& t) {
  if (t.size(0) > 4) act();
  if (t.dim() == 2 && t.is_cuda()) act();
  for (int i = 0; i < t.numel(); ++i) act();
  torch::Tensor c = torch::tensor({1, 2});
  if (c.item<int>() == 1) act();
}

void outside(const torch::Tensor& t) {
  if (t.item<int>()) act();
}
