// PyTorch's caching allocator, as far as it reports: a library apart from the one that it reports to.
#include "tests/unit/preload/fake/fake_c10.h"

extern "C" void fake_torch_block(uint64_t start, int64_t bytes) {
  c10::reportMemoryUsageToProfiler(reinterpret_cast<void*>(start), bytes, 11, 22, {c10::DeviceType::cuda, 0});
}
extern "C" void fake_torch_host_block(uint64_t start, int64_t bytes) {
  c10::reportMemoryUsageToProfiler(reinterpret_cast<void*>(start), bytes, 11, 22, {c10::DeviceType::cpu, 0});
}
