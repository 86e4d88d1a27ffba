// Device memory that is taken at the start and kept to the end: the step itself allocates nothing.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"

namespace dsv4::cuda {

class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory();

  // Null when there is none left (or for 0 bytes); ask state() once all is taken.
  void* bytes(std::size_t size);
  template <class T>
  T* take(std::int64_t count) {
    return static_cast<T*>(bytes(static_cast<std::size_t>(count) * sizeof(T)));
  }
  // A copy of host data, complete when the stream is.
  template <class T>
  T* copy(const T* host, std::int64_t count, cudaStream_t stream) {
    return static_cast<T*>(copy_bytes(host, static_cast<std::size_t>(count) * sizeof(T), stream));
  }
  void* copy_bytes(const void* host, std::size_t size, cudaStream_t stream);
  // A copy into memory taken before.
  void fill(void* device, const void* host, std::size_t size, cudaStream_t stream);
  // Every byte of all of it becomes `value`.
  void poison(int value, cudaStream_t stream);

  capgate::Result<void> state() const;
  std::uint64_t total() const { return total_; }

 private:
  struct Block {
    void* data;
    std::size_t size;
  };
  std::vector<Block> blocks_;
  std::uint64_t total_ = 0;
  cudaError_t status_ = cudaSuccess;
};

}  // namespace dsv4::cuda
