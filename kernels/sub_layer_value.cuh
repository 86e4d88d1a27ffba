// What a sub-layer gave at (row, channel): a value, or experts' parts that are summed up on the way.
#pragma once

#include <cstdint>

#include "kernels/hyper_connection.h"

namespace dsv4::kernels {

struct Given {
  const float* y;
  __device__ float operator()(int b, int i, int d, bool) const {
    return y[static_cast<std::int64_t>(b) * d + i];
  }
};

struct Summed {
  static constexpr int kTogether = 8;  // parts on their way at once
  ExpertSum e;
  // One thread of those that ask for the same value writes it down.
  __device__ float operator()(int b, int i, int d, bool writes) const {
    const float* part = e.parts + static_cast<std::int64_t>(b) * (e.slots + 1) * d + i;
    const float shared = part[static_cast<std::int64_t>(e.slots) * d];
    float sum = 0;
    for (int first = 0; first < e.slots; first += kTogether) {
      float share[kTogether], given[kTogether];
#pragma unroll
      for (int j = 0; j < kTogether; ++j) {
        const bool there = first + j < e.slots;
        share[j] = there ? e.shares[b * e.slots + first + j] : 0.0f;
        given[j] = there ? part[static_cast<std::int64_t>(first + j) * d] : 0.0f;
      }
#pragma unroll
      for (int j = 0; j < kTogether; ++j) sum = fmaf(share[j], given[j], sum);
    }
    const float out = sum + shared;
    if (writes) {
      e.routed[static_cast<std::int64_t>(b) * d + i] = sum;
      e.out[static_cast<std::int64_t>(b) * d + i] = out;
    }
    return out;
  }
};

}  // namespace dsv4::kernels
