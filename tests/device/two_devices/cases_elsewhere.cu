// Work and calls for device 1 beside a capture on device 0.
#include "case.h"

namespace two_devices {
namespace {

int launch(cudaStream_t stream, int* to, const int* from) {
  copy_int<<<1, 1, 0, stream>>>(to, from);
  return cudaGetLastError();
}

int on_second(Things& t) {
  (void)cudaSetDevice(1);
  return launch(t.stream[1], t.out[1], t.in[1]);
}

int on_legacy_of_second(Things& t) {
  (void)cudaSetDevice(1);
  return launch(cudaStreamLegacy, t.out[1], t.in[1]);
}

}  // namespace

std::vector<Case> elsewhere_cases() {
  const char* work = "work for device 1, outside the capture";
  const char* calls = "other calls for device 1";
  constexpr auto across = cudaMemcpyDeviceToDevice;
  std::vector<Case> cases = {
      {work, "kernel on a stream of device 1", on_second, 1},
      {work, "kernel on the legacy stream of device 1", on_legacy_of_second, 1},
      {work, "kernel on the per-thread stream of device 1",
       [](Things& t) {
         (void)cudaSetDevice(1);
         return launch(cudaStreamPerThread, t.out[1], t.in[1]);
       },
       1},
      {work, "cudaMemcpyAsync(stream of device 1)",
       [](Things& t) -> int {
         (void)cudaSetDevice(1);
         return cudaMemcpyAsync(t.out[1], t.in[1], sizeof(int), across, t.stream[1]);
       },
       1},
      {work, "cudaMemcpyAsync(stream of device 1), device 0 current",
       [](Things& t) -> int { return cudaMemcpyAsync(t.out[1], t.in[1], sizeof(int), across, t.stream[1]); },
       1},
      {work, "cudaMemsetAsync(stream of device 1)",
       [](Things& t) -> int {
         (void)cudaSetDevice(1);
         return cudaMemsetAsync(t.out[1], 7, sizeof(int), t.stream[1]);
       },
       1},
      {work, "kernel on a stream of device 1, nothing captured", on_second, 1, true},
      {work, "kernel on the legacy stream of device 1, nothing captured", on_legacy_of_second, 1, true},
  };
  const auto call = [&](const char* name, Run run, int writes = -1, bool peers = true) {
    cases.push_back({calls, name, run, writes, false, peers, true});
  };
  call("cudaSetDevice(1)", [](Things&) -> int { return cudaSetDevice(1); });
  call("cudaDeviceSynchronize", [](Things&) -> int {
    (void)cudaSetDevice(1);
    return cudaDeviceSynchronize();
  });
  call("cudaStreamSynchronize(stream of device 1)", [](Things& t) -> int {
    (void)cudaSetDevice(1);
    return cudaStreamSynchronize(t.stream[1]);
  });
  call("cudaStreamQuery(stream of device 1)", [](Things& t) -> int {
    (void)cudaSetDevice(1);
    return cudaStreamQuery(t.stream[1]);
  });
  call("cudaMalloc", [](Things&) -> int {
    (void)cudaSetDevice(1);
    void* block = nullptr;
    return cudaMalloc(&block, 256);
  });
  call("cudaMallocAsync(stream of device 1)", [](Things& t) -> int {
    (void)cudaSetDevice(1);
    void* block = nullptr;
    return cudaMallocAsync(&block, 256, t.stream[1]);
  });
  call(
      "cudaMemcpy(device 1 to device 1)",
      [](Things& t) -> int {
        (void)cudaSetDevice(1);
        return cudaMemcpy(t.out[1], t.in[1], sizeof(int), across);
      },
      1);
  call(
      "cudaMemset(memory of device 1)",
      [](Things& t) -> int {
        (void)cudaSetDevice(1);
        return cudaMemset(t.out[1], 7, sizeof(int));
      },
      1);
  call("cudaStreamCreateWithFlags", [](Things&) -> int {
    (void)cudaSetDevice(1);
    cudaStream_t made = nullptr;
    return cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking);
  });
  call("cudaDeviceCanAccessPeer", [](Things&) -> int {
    int can = 0;
    return cudaDeviceCanAccessPeer(&can, 1, 0);
  });
  call(
      "cudaDeviceEnablePeerAccess",
      [](Things&) -> int {
        (void)cudaSetDevice(1);
        return cudaDeviceEnablePeerAccess(0, 0);
      },
      -1, false);
  call(
      "cudaGraphLaunch(graph and stream of device 1)",
      [](Things& t) -> int {
        (void)cudaSetDevice(1);
        return cudaGraphLaunch(t.exec_of_1, t.stream[1]);
      },
      1);
  return cases;
}

}  // namespace two_devices
