// libtorch: every function that reads values, and every one whose result has a shape that depends on them.
#include <capgate/capgate.h>
#include <torch/torch.h>

void act() {}

CAPGATE_REGION void reads(const torch::Tensor& t, const torch::Tensor& other) {
  if (t.allclose(other)) act();  // EXPECT: host-branch, host-sync
  if (at::allclose(t, other)) act();  // EXPECT: host-branch, host-sync
  if (at::is_nonzero(t)) act();  // EXPECT: host-branch, host-sync
  if (at::_local_scalar_dense(t).to<bool>()) act();  // EXPECT: host-branch, host-sync
}

CAPGATE_REGION void shapes(const torch::Tensor& t, const torch::Tensor& mask) {
  torch::Tensor a = at::nonzero(t);  // EXPECT: host-sync
  if (a.size(0) > 0) act();  // EXPECT: host-branch
  torch::Tensor b = at::masked_select(t, mask);  // EXPECT: host-sync
  if (b.size(0) > 0) act();  // EXPECT: host-branch
  torch::Tensor c = t.argwhere();  // EXPECT: host-sync
  if (c.size(0) > 0) act();  // EXPECT: host-branch
  torch::Tensor d = at::argwhere(t);  // EXPECT: host-sync
  if (d.size(0) > 0) act();  // EXPECT: host-branch
  torch::Tensor e = std::get<0>(at::_unique(t));  // EXPECT: host-sync
  if (e.size(0) > 0) act();  // EXPECT: host-branch
  torch::Tensor f = std::get<0>(at::unique_consecutive(t));  // EXPECT: host-sync
  if (f.size(0) > 0) act();  // EXPECT: host-branch
  torch::Tensor g = std::get<0>(at::unique_dim(t, 0));  // EXPECT: host-sync
  if (g.size(0) > 0) act();  // EXPECT: host-branch
  torch::Tensor h = t.nonzero_numpy()[0];  // EXPECT: host-sync
  if (h.size(0) > 0) act();  // EXPECT: host-branch
  torch::Tensor i = at::nonzero_numpy(t)[0];  // EXPECT: host-sync
  if (i.size(0) > 0) act();  // EXPECT: host-branch
  torch::Tensor j = std::get<0>(t.unique_consecutive());  // EXPECT: host-sync
  if (j.size(0) > 0) act();  // EXPECT: host-branch
  torch::Tensor k = at::index(t, {t > 0.5});  // EXPECT: host-sync
  if (k.size(0) > 0) act();  // EXPECT: host-branch
}

// The same on tensors of the host, and what the device keeps to itself.
CAPGATE_REGION void of_the_host() {
  torch::Tensor c = torch::tensor({1, 2});
  if (c.allclose(c)) act();                            // CLEAN: host-branch, host-sync
  if (at::allclose(c, c)) act();                       // CLEAN: host-branch, host-sync
  if (at::is_nonzero(c)) act();                        // CLEAN: host-branch, host-sync
  if (c.argwhere().size(0)) act();                     // CLEAN: host-branch, host-sync
  if (at::nonzero(c).size(0)) act();                   // CLEAN: host-branch, host-sync
  if (std::get<0>(at::_unique(c)).size(0)) act();      // CLEAN: host-branch, host-sync
  if (c.equal(c)) act();                               // CLEAN: host-branch, host-sync
}
CAPGATE_REGION void of_the_device(const torch::Tensor& t, const torch::Tensor& rows, torch::Tensor out) {
  out.copy_(t);                                        // CLEAN: host-sync
  torch::Tensor up = t.to(torch::kCUDA);               // CLEAN: host-sync
  torch::Tensor sum = t.sum().add(t.sum());            // CLEAN: host-sync
  torch::Tensor picked = at::index(t, {rows});         // CLEAN: host-sync
  if (picked.size(0) > 1 || sum.defined()) act();      // CLEAN: host-branch
  if (up.is_cuda() && up.dim() == 2) act();            // CLEAN: host-branch
  std::vector<float> room(static_cast<size_t>(t.numel()));  // CLEAN: device-sized
}
void outside(const torch::Tensor& t) {
  if (t.argwhere().size(0)) act();                     // CLEAN: host-branch, host-sync
  if (t.cpu().data_ptr<int>()[0]) act();               // CLEAN: host-branch, host-sync
}

CAPGATE_REGION void waits(const at::cuda::CUDAStream& stream, const at::cuda::CUDAEvent& event) {
  stream.synchronize();               // EXPECT: host-sync
  event.synchronize();                // EXPECT: host-sync
  c10::cuda::device_synchronize();    // EXPECT: host-sync
  c10::cuda::stream_synchronize(nullptr);  // EXPECT: host-sync
  torch::cuda::synchronize();         // EXPECT: host-sync
  if (stream.query()) act();          // EXPECT: host-poll
  if (event.query()) act();           // EXPECT: host-poll
}
void waits_outside(const at::cuda::CUDAStream& stream, const at::cuda::CUDAEvent& event) {
  stream.synchronize();               // CLEAN: host-sync
  event.synchronize();                // CLEAN: host-sync
  c10::cuda::device_synchronize();    // CLEAN: host-sync
  torch::cuda::synchronize();         // CLEAN: host-sync
  if (stream.query()) act();          // CLEAN: host-poll
  if (event.query()) act();           // CLEAN: host-poll
}
