// For the programs of the corpus that need two GPUs: which device is current is part of what they are about.
#pragma once

#include <utility>

#include "corpus.h"

namespace corpus {

// Ends the program by name where there is only one; the tools that run it ask before.
inline void need_two_devices() {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess && count >= 2) return;
  std::printf("skipped: needs two GPUs\n");
  std::exit(77);
}

// Makes `device` current for as long as it lives.
class OnDevice {
 public:
  explicit OnDevice(int device) {
    CU(cudaGetDevice(&before_));
    CU(cudaSetDevice(device));
  }
  ~OnDevice() { (void)cudaSetDevice(before_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = 0;
};

// One device's part of a model: its stream, an event of it, an int there.
struct Part {
  int device = 0;
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  int* x = nullptr;
};

inline Part new_part(int device) {
  const OnDevice current(device);
  return {device, new_stream(), new_event(), device_ints(1)};
}

// What was recorded last on `from` comes before what follows on `to`.
inline void order(const Part& from, const Part& to) {
  {
    const OnDevice current(from.device);
    CU(cudaEventRecord(from.event, from.stream));
  }
  CU(cudaStreamWaitEvent(to.stream, from.event, 0));
}

inline void wait_for(const Part& part) {
  const OnDevice current(part.device);
  CU(cudaStreamSynchronize(part.stream));
}

// Each reaches the other's memory, where the machine can do that.
inline void allow_peers(const Part& a, const Part& b) {
  for (const auto& [from, to] : {std::pair{a.device, b.device}, std::pair{b.device, a.device}}) {
    int can = 0;
    CU(cudaDeviceCanAccessPeer(&can, from, to));
    const OnDevice current(from);
    if (can != 0) CU(cudaDeviceEnablePeerAccess(to, 0));
  }
}

}  // namespace corpus
