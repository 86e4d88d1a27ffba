// Its lines are known to seal_test.cpp: outer() has everything else inlined into it, and inner() asks
// who it is.
#include <cstdint>

namespace sample {

static inline __attribute__((always_inline)) uint64_t inner() {
  uint64_t here;
  __asm__ volatile("lea 0(%%rip), %0" : "=r"(here));  // INNER
  return here;
}

static inline __attribute__((always_inline)) uint64_t middle() {
  return inner();  // MIDDLE
}

namespace {
struct Asker {
  static inline __attribute__((always_inline)) uint64_t ask() {
    const auto inside = []() __attribute__((always_inline)) { return middle(); };
    return inside();
  }
};
}  // namespace

}  // namespace sample

// An address inside inner() as it is inlined into this function.
extern "C" __attribute__((noinline)) uint64_t sample_outer() {
  return sample::Asker::ask();  // OUTER capgate-allow(host-sync): a sample
}
