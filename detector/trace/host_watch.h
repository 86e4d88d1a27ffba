// What the opt-in library of --watch-host and the preloaded library have in common: one looks for the other's
// symbol when it is loaded, and neither needs the other.
#pragma once

#include <stdint.h>

#include <atomic>

namespace capgate::preload {

struct HostWatch {
  std::atomic<bool> present;    // the opt-in library is there
  std::atomic<uint32_t> count;  // addresses that are waited for
  std::atomic<uint64_t> low, high;
  // Memory went back to where it came from. `entry`: the stack above the caller's frame.
  void (*gone)(uint64_t start, uint64_t bytes, uint64_t entry);
};

}  // namespace capgate::preload

extern "C" __attribute__((visibility("default"))) capgate::preload::HostWatch capgate_host_watch;
