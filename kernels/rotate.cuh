// One rotary pair: (a, b) turned by an angle.
#pragma once

namespace dsv4::kernels {

// {cosine, sine} of a position's angle.
__device__ inline float2 turn_of(int position, float frequency) {
  float2 turn;
  sincosf(static_cast<float>(position) * frequency, &turn.y, &turn.x);
  return turn;
}

__device__ inline float2 rotated(float a, float b, float2 turn, bool backward) {
  const float sine = backward ? -turn.y : turn.y;
  return {a * turn.x - b * sine, b * turn.x + a * sine};
}

}  // namespace dsv4::kernels
