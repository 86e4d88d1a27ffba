// The one function of PyTorch's libc10.so that its allocators report blocks to, and how often it was called.
#include "tests/unit/preload/fake/fake_c10.h"

namespace {
uint64_t g_reports = 0;
}

namespace c10 {
void reportMemoryUsageToProfiler(void*, int64_t bytes, size_t allocated, size_t reserved, Device device) {
  // What arrives must be what the allocator gave.
  if (bytes != 0 && allocated == 11 && reserved == 22 && device.index == 0) ++g_reports;
}
}  // namespace c10

extern "C" uint64_t fake_c10_reports() {
  return g_reports;
}
