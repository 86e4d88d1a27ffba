// Copies of what a step computes, for `compare` and `verify`: kept on the device by copies on the step's own
// stream, read by the host once the step is over.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "engine/cuda/memory/device_memory.h"

namespace dsv4::cuda {

struct Recorded {
  const char* name;  // engine/model/components.h; or kChosenEntries, kChosenExperts, kBiasedScores, kShares
  int layer;         // -1: outside the layers
  int width;         // values a row
  std::int64_t offset;
};

inline constexpr char kChosenEntries[] = "chosen entries";  // int32
inline constexpr char kChosenExperts[] = "chosen experts";  // int32
inline constexpr char kBiasedScores[] = "biased scores";
inline constexpr char kShares[] = "shares";

class Recording {
 public:
  // Room for `capacity` values.
  Recording(DeviceMemory& memory, std::int64_t capacity)
      : arena_(memory.take<float>(capacity)), capacity_(capacity) {}

  void begin() {
    items_.clear();
    used_ = 0;
  }
  // `from` is [batch, width] of four-byte values.
  void take(const char* name, int layer, const void* from, int width, int batch, cudaStream_t stream) {
    const std::int64_t count = std::int64_t{width} * batch;
    if (used_ + count > capacity_) {
      overflow_ = true;
      return;
    }
    cudaMemcpyAsync(arena_ + used_, from, static_cast<std::size_t>(count) * sizeof(float),
                    cudaMemcpyDeviceToDevice, stream);
    items_.push_back({name, layer, width, used_});
    used_ += count;
  }

  const std::vector<Recorded>& items() const { return items_; }
  const float* arena() const { return arena_; }
  std::int64_t used() const { return used_; }
  bool overflow() const { return overflow_; }

 private:
  float* arena_;
  std::int64_t capacity_, used_ = 0;
  bool overflow_ = false;
  std::vector<Recorded> items_;
};

}  // namespace dsv4::cuda
