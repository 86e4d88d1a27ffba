#include "engine/cuda/memory/device_memory.h"

#include <fmt/format.h>

namespace dsv4::cuda {

DeviceMemory::~DeviceMemory() {
  for (const Block& block : blocks_) cudaFree(block.data);
}

void* DeviceMemory::bytes(std::size_t size) {
  if (size == 0 || status_ != cudaSuccess) return nullptr;
  void* data = nullptr;
  total_ += size;
  status_ = cudaMalloc(&data, size);
  if (status_ != cudaSuccess) return nullptr;
  blocks_.push_back({data, size});
  return data;
}

void* DeviceMemory::copy_bytes(const void* host, std::size_t size, cudaStream_t stream) {
  void* data = bytes(size);
  if (data != nullptr) fill(data, host, size, stream);
  return data;
}

void DeviceMemory::fill(void* device, const void* host, std::size_t size, cudaStream_t stream) {
  if (status_ == cudaSuccess) status_ = cudaMemcpyAsync(device, host, size, cudaMemcpyHostToDevice, stream);
}

void DeviceMemory::poison(int value, cudaStream_t stream) {
  for (const Block& block : blocks_)
    if (status_ == cudaSuccess) status_ = cudaMemsetAsync(block.data, value, block.size, stream);
}

capgate::Result<void> DeviceMemory::state() const {
  if (status_ == cudaSuccess) return {};
  return capgate::Error{fmt::format("device memory ({:.1f} MiB in all): {}",
                                    static_cast<double>(total_) / (1 << 20), cudaGetErrorString(status_))};
}

}  // namespace dsv4::cuda
