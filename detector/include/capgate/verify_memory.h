/* Fills free device memory. Part of verify.h. */
#ifndef CAPGATE_VERIFY_MEMORY_H
#define CAPGATE_VERIFY_MEMORY_H

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace capgate {
namespace verify_detail {

inline std::string failed_call(const std::string& what, cudaError_t error) {
  return what + ": " + cudaGetErrorName(error) + ", " + cudaGetErrorString(error);
}

/* Free device memory, filled as long as this lives: the default memory pool's free part, and blocks of
 * cudaMalloc, which takes first what was freed last. */
class free_memory {
 public:
  explicit free_memory(std::size_t most) : most_(most) {
    std::size_t free = 0, total = 0;
    must(cudaMemGetInfo(&free, &total), "asking for free memory");
    std::size_t left = std::min(free / 4, most_);
    // Of every size: cudaMalloc keeps small blocks and large ones in places of their own.
    for (std::size_t size = std::size_t{64} << 20; size >= 512; size /= 2)
      for (int i = 0; i < 4 && left >= size; ++i, left -= size) {
        void* block = nullptr;
        if (cudaMalloc(&block, size) != cudaSuccess) {
          cudaGetLastError();
          break;
        }
        must(cudaMemset(block, 0xff, size), "filling free memory");
        blocks_.push_back(block);
        bytes_ += size;
      }
    fill_pool();
  }
  ~free_memory() {
    for (void* block : blocks_) cudaFree(block);
  }
  free_memory(const free_memory&) = delete;
  free_memory& operator=(const free_memory&) = delete;

  std::size_t bytes() const { return bytes_; }
  const std::string& error() const { return error_; }  // the first one

 private:
  void fill_pool() {
    int device = 0;
    cudaMemPool_t pool = nullptr;
    std::uint64_t reserved = 0, used = 0;
    if (cudaGetDevice(&device) != cudaSuccess || cudaDeviceGetDefaultMemPool(&pool, device) != cudaSuccess ||
        cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved) != cudaSuccess ||
        cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used) != cudaSuccess ||
        reserved <= used) {
      cudaGetLastError();
      return;
    }
    // Taken on the default stream and given back there at once: the bytes stay filled.
    void* block = nullptr;
    std::size_t size = std::min<std::size_t>(reserved - used, most_);
    while (size >= 512) {
      if (cudaMallocAsync(&block, size, nullptr) == cudaSuccess) {
        must(cudaMemsetAsync(block, 0xff, size, nullptr), "filling the pool");
        must(cudaFreeAsync(block, nullptr), "giving the pool its memory back");
        bytes_ += size;
        return;
      }
      cudaGetLastError();
      size /= 2;
    }
  }

  void must(cudaError_t error, const char* what) {
    if (error != cudaSuccess && error_.empty()) error_ = failed_call(what, error);
  }

  std::size_t most_, bytes_ = 0;
  std::vector<void*> blocks_;
  std::string error_;
};

}  // namespace verify_detail
}  // namespace capgate

#endif
