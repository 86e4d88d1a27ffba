// The number formats of checkpoints, decoded exactly: each is a subset of float32.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace dsv4 {

inline float decode_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

// Round to nearest, ties to even; finite input.
inline std::uint16_t encode_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

inline float decode_f16(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  float magnitude = 0;
  if (exponent == 31)
    magnitude = mantissa ? NAN : INFINITY;
  else if (exponent == 0)
    magnitude = std::ldexp(static_cast<float>(mantissa), -24);
  else
    magnitude = std::ldexp(static_cast<float>(1024 + mantissa), exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

// 4 exponent bits (bias 7), 3 mantissa bits, no infinity; 0x7F and 0xFF are NaN.
constexpr float decode_e4m3(std::uint8_t bits) {
  const std::uint32_t sign = std::uint32_t{bits} >> 7 << 31, exponent = bits >> 3 & 15, mantissa = bits & 7;
  if (exponent == 15 && mantissa == 7) return std::bit_cast<float>(sign | 0x7FC00000u);
  if (exponent == 0) return (sign ? -0.001953125f : 0.001953125f) * static_cast<float>(mantissa);
  return std::bit_cast<float>(sign | (exponent + 120) << 23 | mantissa << 20);
}

// A power of two: the exponent alone, bias 127; 0xFF is NaN.
inline float decode_e8m0(std::uint8_t bits) {
  return bits == 0xFF ? NAN : std::ldexp(1.0f, int{bits} - 127);
}

// Four bits: sign, 2 exponent bits, 1 mantissa bit.
inline float decode_e2m1(unsigned code) {
  constexpr float kMagnitude[8] = {0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f};
  return code & 8 ? -kMagnitude[code & 7] : kMagnitude[code & 7];
}

}  // namespace dsv4
