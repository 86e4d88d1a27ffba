// As c10/core/Allocator.h declares it, so that its name in the object file is the same.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace c10 {
enum class DeviceType : int8_t { cpu = 0, cuda = 1 };
struct Device {
  DeviceType type;
  int8_t index;
};
void reportMemoryUsageToProfiler(void* start, int64_t bytes, size_t allocated, size_t reserved,
                                 Device device);
}  // namespace c10
