// libtorch: reading a tensor's values, and shapes that depend on values.
#include <capgate/capgate.h>
#include <torch/torch.h>

void act() {}

CAPGATE_REGION void values(const torch::Tensor& t, const torch::Tensor& other) {
  if (t.item<int>() > 0) act();                // EXPECT: host-branch, host-sync
  if (t.item().toBool()) act();                // EXPECT: host-branch, host-sync
  if (t.is_nonzero()) act();                   // EXPECT: host-branch, host-sync
  if (t.equal(other)) act();                   // EXPECT: host-branch, host-sync
  if (at::equal(t, other)) act();              // EXPECT: host-branch, host-sync
  if (torch::equal(t, other)) act();           // EXPECT: host-branch, host-sync
  float sum = t.sum().item<float>();           // EXPECT: host-sync
  if (sum > 1) act();                          // EXPECT: host-branch
  while (t[0].item<bool>()) act();             // EXPECT: host-branch, host-sync
  torch::Tensor row = t[other.view({-1})[0]];  // EXPECT: host-sync
}

CAPGATE_REGION void to_the_host(const torch::Tensor& t, const torch::Tensor& other) {
  torch::Tensor h = t.cpu();            // EXPECT: host-sync
  if (h.data_ptr<int>()[0]) act();      // EXPECT: host-branch
  torch::Tensor g = t.to(torch::kCPU);  // EXPECT: host-sync
  int* p = g.data_ptr<int>();
  for (int i = 0; i < p[0]; ++i) act();                                               // EXPECT: device-sized
  torch::Tensor k = t.to(torch::Device(torch::kCPU), torch::kInt);                    // EXPECT: host-sync
  if (k.view({-1})[2].item<int>()) act();                                             // EXPECT: host-branch
  torch::Tensor l = t.to(torch::TensorOptions().device(at::kCPU).dtype(at::kFloat));  // EXPECT: host-sync
  if (l.sum().item<float>() > 1) act();                                               // EXPECT: host-branch
  torch::Tensor m = t.to(torch::Device("cpu"));                                       // EXPECT: host-sync
  if (m.is_nonzero()) act();                                                          // EXPECT: host-branch
  torch::Tensor o = torch::empty({4}, torch::kCPU);
  o.copy_(other);            // EXPECT: host-sync
  if (o.item<int>()) act();  // EXPECT: host-branch
}

CAPGATE_REGION void shapes(const torch::Tensor& t) {
  torch::Tensor rows = t.nonzero();                     // EXPECT: host-sync
  if (rows.size(0) > 0) act();                          // EXPECT: host-branch
  for (int64_t i = 0; i < rows.sizes()[0]; ++i) act();  // EXPECT: device-sized
  torch::Tensor picked = t.masked_select(t > 0.5);      // EXPECT: host-sync
  if (picked.numel()) act();                            // EXPECT: host-branch
  torch::Tensor masked = t.index({t > 0.5});            // EXPECT: host-sync
  if (masked.size(0)) act();                            // EXPECT: host-branch
  const torch::Tensor mask = t > 0.5;
  torch::Tensor kept = t.index({~mask, 0});  // EXPECT: host-sync
  int64_t n = kept.size(0);
  std::vector<float> room(static_cast<size_t>(n));  // EXPECT: device-sized
  auto [unique, places, counts] = at::_unique2(t);  // EXPECT: host-sync
  if (unique.size(0) > 3) act();                    // EXPECT: host-branch
  torch::Tensor where = torch::where(mask)[0];      // EXPECT: host-sync
  if (where.size(0)) act();                         // EXPECT: host-branch
}

CAPGATE_REGION void waits() {
  torch::cuda::synchronize();  // EXPECT: host-sync
}

CAPGATE_REGION void what_the_host_knows(const torch::Tensor& t, const torch::Tensor& places,
                                        torch::Tensor out) {
  TORCH_CHECK(t.is_cuda() && t.defined(), "a tensor of the device");
  if (t.size(0) > 4) act();                                                  // CLEAN: host-branch
  if (t.dim() == 2 && t.is_cuda() && t.is_contiguous()) act();               // CLEAN: host-branch
  if (t.scalar_type() == torch::kHalf || t.device() == out.device()) act();  // CLEAN: host-branch
  if (t.use_count() > 1 || t.is_same(out)) act();                            // CLEAN: host-branch
  for (int i = 0; i < t.numel(); ++i) act();  // CLEAN: device-sized
  for (const int64_t n : t.sizes())
    if (n > 3) act();
  if (t.view({-1, 4}).size(0) > 2) act();  // CLEAN: host-branch
}

CAPGATE_REGION void tensors_of_the_host(const torch::Tensor& t) {
  torch::Tensor c = torch::tensor({1, 2});
  if (c.item<int>() == 1) act();                                  // CLEAN: host-branch, host-sync
  if (c[1].item<int>() == 1) act();                               // CLEAN: host-branch, host-sync
  if (c.sum().item<float>() > 1 || c.add(c).is_nonzero()) act();  // CLEAN: host-branch, host-sync
  if (c.index({c > 1}).size(0)) act();                            // CLEAN: host-branch, host-sync
  if (c.nonzero().size(0)) act();                                 // CLEAN: host-branch, host-sync
  torch::Tensor up = c.to(torch::kCUDA);
  torch::Tensor z = torch::empty({4});
  z.copy_(c);  // CLEAN: host-sync
  if (z.item<int>()) act();  // CLEAN: host-branch, host-sync
  torch::Tensor d = torch::empty({4}, t.options());
  d.copy_(t);  // CLEAN: host-sync
  if (d.size(0)) act();  // CLEAN: host-branch
}

// Work on the device whose shape the host knows.
CAPGATE_REGION void stays_on_the_device(const torch::Tensor& t, const torch::Tensor& places,
                                        const torch::Tensor& mask) {
  torch::Tensor taken = t.index_select(0, places);
  if (taken.size(0) > 4) act();  // CLEAN: host-branch
  torch::Tensor gathered = t.index({places});  // CLEAN: host-sync
  if (gathered.size(0) > 4) act();  // CLEAN: host-branch
  torch::Tensor column = t.index({torch::indexing::Slice(), 0});
  if (column.size(0) > 4) act();  // CLEAN: host-branch
  torch::Tensor chosen = at::where(t > 0, t, at::empty_like(t));  // CLEAN: host-sync
  if (chosen.numel() > 4) act();  // CLEAN: host-branch
  torch::Tensor half = t.to(torch::kHalf);  // CLEAN: host-sync
  if (half.numel() > 4) act();  // CLEAN: host-branch
  torch::Tensor flags = t > 0;
  if (flags.numel() > 4) act();  // CLEAN: host-branch
}

void outside(const torch::Tensor& t) {
  if (t.item<int>()) act();        // CLEAN: host-branch, host-sync
  if (t.nonzero().size(0)) act();  // CLEAN: host-branch, host-sync
}
