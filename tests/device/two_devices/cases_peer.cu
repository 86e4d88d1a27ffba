// Copies between the devices, on the captured stream and at once.
#include "case.h"

namespace two_devices {
namespace {

int copy(Things& t, int from, int to, cudaMemcpyKind kind) {
  return cudaMemcpyAsync(t.out[to], t.in[from], sizeof(int), kind, t.stream[0]);
}

int peer_call(Things& t, int from, int to) {
  return cudaMemcpyPeerAsync(t.out[to], to, t.in[from], from, sizeof(int), t.stream[0]);
}

}  // namespace

std::vector<Case> peer_cases() {
  const char* peer = "copies between the devices";
  constexpr bool kOff = false;
  return {
      {peer, "cudaMemcpyAsync(captured, 0 to 1, default)",
       [](Things& t) { return copy(t, 0, 1, cudaMemcpyDefault); }, 1},
      {peer, "cudaMemcpyAsync(captured, 0 to 1, default), peer access off",
       [](Things& t) { return copy(t, 0, 1, cudaMemcpyDefault); }, 1, false, kOff},
      {peer, "cudaMemcpyAsync(captured, 0 to 1, device to device)",
       [](Things& t) { return copy(t, 0, 1, cudaMemcpyDeviceToDevice); }, 1},
      {peer, "cudaMemcpyAsync(captured, 1 to 0, default)",
       [](Things& t) { return copy(t, 1, 0, cudaMemcpyDefault); }, 0},
      {peer, "cudaMemcpyAsync(captured, 1 to 0, default), device 1 current",
       [](Things& t) {
         (void)cudaSetDevice(1);
         return copy(t, 1, 0, cudaMemcpyDefault);
       },
       0},
      {peer, "cuMemcpyAsync(captured, 0 to 1)",
       [](Things& t) -> int {
         return cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(t.out[1]), reinterpret_cast<CUdeviceptr>(t.in[0]),
                              sizeof(int), t.stream[0]);
       },
       1},
      {peer, "cudaMemcpyPeerAsync(captured, 0 to 1)", [](Things& t) { return peer_call(t, 0, 1); }, 1},
      {peer, "cudaMemcpyPeerAsync(captured, 0 to 1), peer access off",
       [](Things& t) { return peer_call(t, 0, 1); }, 1, false, kOff},
      {peer, "cudaMemcpyPeerAsync(captured, 1 to 0)", [](Things& t) { return peer_call(t, 1, 0); }, 0},
      {peer, "cudaMemcpyPeerAsync(captured, 0 to 0)", [](Things& t) { return peer_call(t, 0, 0); }, 0},
      {peer, "cudaMemcpy3DPeerAsync(captured, 0 to 1)",
       [](Things& t) -> int {
         cudaMemcpy3DPeerParms parameters = {};
         parameters.srcDevice = 0;
         parameters.dstDevice = 1;
         parameters.srcPtr = make_cudaPitchedPtr(t.in[0], sizeof(int), sizeof(int), 1);
         parameters.dstPtr = make_cudaPitchedPtr(t.out[1], sizeof(int), sizeof(int), 1);
         parameters.extent = make_cudaExtent(sizeof(int), 1, 1);
         return cudaMemcpy3DPeerAsync(&parameters, t.stream[0]);
       },
       1},
      {peer, "cudaMemcpyPeer(0 to 1)",
       [](Things& t) -> int { return cudaMemcpyPeer(t.out[1], 1, t.in[0], 0, sizeof(int)); }, 1},
      {peer, "cudaMemcpy(0 to 1, default)",
       [](Things& t) -> int { return cudaMemcpy(t.out[1], t.in[0], sizeof(int), cudaMemcpyDefault); }, 1},
  };
}

}  // namespace two_devices
