// One rotary pair: (a, b) turned by an angle.
#pragma once

namespace dsv4::kernels {

__device__ inline float2 rotated(float a, float b, int position, float frequency, bool backward) {
  float sine, cosine;
  sincosf(static_cast<float>(position) * frequency, &sine, &cosine);
  if (backward) sine = -sine;
  return {a * cosine - b * sine, b * cosine + a * sine};
}

}  // namespace dsv4::kernels
