// Copies and memsets, synchronous and asynchronous.
#include "cell.h"

namespace legality {
namespace {

__device__ int symbol[64];
constexpr size_t kSmall = 64;

int copy(Things&, void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return cudaMemcpy(to, from, bytes, kind);
}

}  // namespace

std::vector<Call> copy_calls() {
  const char* now = "synchronous copy";
  const char* later = "asynchronous copy";
  constexpr auto up = cudaMemcpyHostToDevice, down = cudaMemcpyDeviceToHost,
                 across = cudaMemcpyDeviceToDevice;
  return {
      {now, "cudaMemcpy(device to pageable)",
       [](Things& t) { return copy(t, t.pageable, t.device, kSmall, down); }},
      {now, "cudaMemcpy(device to pinned)",
       [](Things& t) { return copy(t, t.pinned, t.device, kSmall, down); }},
      {now, "cudaMemcpy(pageable to device)",
       [](Things& t) { return copy(t, t.device, t.pageable, kSmall, up); }},
      {now, "cudaMemcpy(pageable to device, 2 MB)",
       [](Things& t) { return copy(t, t.device, t.pageable, kBlock, up); }},
      {now, "cudaMemcpy(pinned to device)",
       [](Things& t) { return copy(t, t.device, t.pinned, kSmall, up); }},
      {now, "cudaMemcpy(device to device)",
       [](Things& t) { return copy(t, t.device2, t.device, kSmall, across); }},
      {now, "cudaMemcpy(host to host)",
       [](Things& t) { return copy(t, t.pinned, t.pageable, kSmall, cudaMemcpyHostToHost); }},
      {now, "cuMemcpyDtoH",
       [](Things& t) -> int {
         return cuMemcpyDtoH(t.pageable, reinterpret_cast<CUdeviceptr>(t.device), kSmall);
       }},
      {now, "cuMemcpyHtoD",
       [](Things& t) -> int {
         return cuMemcpyHtoD(reinterpret_cast<CUdeviceptr>(t.device), t.pageable, kSmall);
       }},
      {now, "cudaMemcpy2D(device to pageable)",
       [](Things& t) -> int { return cudaMemcpy2D(t.pageable, 64, t.device, 64, 32, 4, down); }},
      {now, "cudaMemcpyToSymbol",
       [](Things& t) -> int { return cudaMemcpyToSymbol(symbol, t.pageable, kSmall); }},
      {now, "cudaMemcpyFromSymbol",
       [](Things& t) -> int { return cudaMemcpyFromSymbol(t.pageable, symbol, kSmall); }},
      {now, "cudaMemset(device)", [](Things& t) -> int { return cudaMemset(t.device, 0, kSmall); }},
      {now, "cudaMemset(pinned)", [](Things& t) -> int { return cudaMemset(t.pinned, 0, kSmall); }},
      {now, "cuMemsetD32",
       [](Things& t) -> int { return cuMemsetD32(reinterpret_cast<CUdeviceptr>(t.device), 0, 16); }},
      {later, "cudaMemcpyAsync(captured, device to pageable)",
       [](Things& t) -> int { return cudaMemcpyAsync(t.pageable, t.device, kSmall, down, t.captured); }},
      {later, "cudaMemcpyAsync(captured, device to pageable, 2 MB)",
       [](Things& t) -> int { return cudaMemcpyAsync(t.pageable, t.device, kBlock, down, t.captured); }},
      {later, "cudaMemcpyAsync(captured, pageable to device)",
       [](Things& t) -> int { return cudaMemcpyAsync(t.device, t.pageable, kSmall, up, t.captured); }},
      {later, "cudaMemcpyAsync(captured, pageable to device, 2 MB)",
       [](Things& t) -> int { return cudaMemcpyAsync(t.device, t.pageable, kBlock, up, t.captured); }},
      {later, "cudaMemcpyAsync(captured, device to pinned)",
       [](Things& t) -> int { return cudaMemcpyAsync(t.pinned, t.device, kSmall, down, t.captured); }},
      {later, "cudaMemcpyAsync(captured, pinned to device)",
       [](Things& t) -> int { return cudaMemcpyAsync(t.device, t.pinned, kSmall, up, t.captured); }},
      {later, "cudaMemcpyAsync(captured, device to device)",
       [](Things& t) -> int { return cudaMemcpyAsync(t.device2, t.device, kSmall, across, t.captured); }},
      {later, "cudaMemcpyAsync(captured, host to host)",
       [](Things& t) -> int {
         return cudaMemcpyAsync(t.pinned, t.pageable, kSmall, cudaMemcpyHostToHost, t.captured);
       }},
      {later, "cudaMemcpyAsync(other, device to pinned)",
       [](Things& t) -> int { return cudaMemcpyAsync(t.pinned, t.device, kSmall, down, t.other); }},
      {later, "cudaMemcpyAsync(other, device to pageable)",
       [](Things& t) -> int { return cudaMemcpyAsync(t.pageable, t.device, kSmall, down, t.other); }},
      {later, "cudaMemcpyAsync(legacy, device to device)",
       [](Things& t) -> int {
         return cudaMemcpyAsync(t.device2, t.device, kSmall, across, cudaStreamLegacy);
       }},
      {later, "cudaMemcpyToSymbolAsync(captured, pageable)",
       [](Things& t) -> int {
         return cudaMemcpyToSymbolAsync(symbol, t.pageable, kSmall, 0, up, t.captured);
       }},
      {later, "cudaMemcpyPeerAsync(captured)",
       [](Things& t) -> int { return cudaMemcpyPeerAsync(t.device2, 0, t.device, 0, kSmall, t.captured); }},
      {later, "cudaMemsetAsync(captured)",
       [](Things& t) -> int { return cudaMemsetAsync(t.device, 0, 64, t.captured); }},
      {later, "cudaMemsetAsync(other)",
       [](Things& t) -> int { return cudaMemsetAsync(t.device, 0, 64, t.other); }},
      {later, "cudaMemsetAsync(legacy)",
       [](Things& t) -> int { return cudaMemsetAsync(t.device, 0, 64, cudaStreamLegacy); }},
      {later, "cuMemcpyDtoHAsync(captured, pageable)",
       [](Things& t) -> int {
         return cuMemcpyDtoHAsync(t.pageable, reinterpret_cast<CUdeviceptr>(t.device), kSmall, t.captured);
       }},
  };
}

}  // namespace legality
