/* verify_numbers.h - the buffers that verify.h compares, and when two numbers in them differ. A part of
 * verify.h, and included by it.
 */
#ifndef CAPGATE_VERIFY_NUMBERS_H
#define CAPGATE_VERIFY_NUMBERS_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace capgate {

enum class element { bits, float16, bfloat16, float32, float64 };

/* A buffer on the current device. `size` is that of one element in bytes. */
struct buffer {
  std::string name;
  void* data;
  std::size_t count;
  std::size_t size;
  element type;
};

/* `count` elements at `data`. Halves need their type named: of("x", p, n, element::float16). */
template <class T>
buffer of(std::string name, T* data, std::size_t count,
          element type = std::is_same<T, float>::value    ? element::float32
                         : std::is_same<T, double>::value ? element::float64
                                                          : element::bits) {
  return {std::move(name), const_cast<std::remove_const_t<T>*>(data), count, sizeof(T), type};
}

struct replay_mismatch {
  std::string what;  // name of the buffer
  int set = 0, step = 0;
  bool refilled = false;  // after free memory was filled
  std::size_t index = 0;  // the first element that differs
  double eager = 0, replay = 0;
  std::size_t elements = 0, of = 0;
  double largest = 0;  // difference; NaN where one of the two is no number
  double allowed = 0;  // at that element
  bool kept = false;   // the element is what the output was filled with: the graph did not write it
};

namespace verify_detail {

using bytes = std::vector<unsigned char>;
using step_values = std::vector<bytes>;       // a buffer each
using run_values = std::vector<step_values>;  // a step each

inline double half_value(std::uint16_t h, int exponent_bits) {
  const int mantissa_bits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (h >> mantissa_bits) & ((1 << exponent_bits) - 1),
            mantissa = h & ((1 << mantissa_bits) - 1);
  double value;
  if (exponent == (1 << exponent_bits) - 1)
    value = mantissa ? NAN : INFINITY;
  else if (exponent == 0)
    value = std::ldexp(mantissa, 1 - bias - mantissa_bits);
  else
    value = std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
  return h & 0x8000 ? -value : value;
}

template <class T>
T at(const bytes& values, std::size_t i) {
  T value;
  std::memcpy(&value, values.data() + i * sizeof(T), sizeof(T));
  return value;
}

inline double value_of(const buffer& b, const bytes& values, std::size_t i) {
  switch (b.type) {
    case element::float16:
      return half_value(at<std::uint16_t>(values, i), 5);
    case element::bfloat16:
      return half_value(at<std::uint16_t>(values, i), 8);
    case element::float32:
      return at<float>(values, i);
    case element::float64:
      return at<double>(values, i);
    case element::bits:
      break;
  }
  switch (b.size) {
    case 1:
      return at<std::int8_t>(values, i);
    case 2:
      return at<std::int16_t>(values, i);
    case 4:
      return at<std::int32_t>(values, i);
    case 8:
      return static_cast<double>(at<std::int64_t>(values, i));
    default:
      return values[i * b.size];
  }
}

/* PyTorch's own comparison has the same figures. */
inline std::pair<double, double> tolerance(double relative, double absolute, element type) {
  std::pair<double, double> of_type{0, 0};
  if (type == element::float16) of_type = {1e-3, 1e-5};
  if (type == element::bfloat16) of_type = {1.6e-2, 1e-5};
  if (type == element::float32) of_type = {1.3e-6, 1e-5};
  if (type == element::float64) of_type = {1e-7, 1e-7};
  return {relative < 0 ? of_type.first : relative, absolute < 0 ? of_type.second : absolute};
}

/* The largest finite difference of two eager runs. */
inline double noise(const buffer& b, const bytes& one, const bytes& other) {
  if (b.type == element::bits || one == other) return 0;
  double most = 0;
  for (std::size_t i = 0; i < b.count; ++i) {
    const double difference = std::fabs(value_of(b, one, i) - value_of(b, other, i));
    if (std::isfinite(difference)) most = std::max(most, difference);
  }
  return most;
}

inline replay_mismatch compare(const buffer& b, const bytes& eager, const bytes& replay, double relative,
                               double absolute) {
  replay_mismatch found;
  found.of = b.count;
  if (eager == replay) return found;
  for (std::size_t i = 0; i < b.count; ++i) {
    if (std::memcmp(eager.data() + i * b.size, replay.data() + i * b.size, b.size) == 0) continue;
    const double x = value_of(b, eager, i), y = value_of(b, replay, i), difference = std::fabs(x - y);
    if (b.type != element::bits) {
      if (x == y || (std::isnan(x) && std::isnan(y))) continue;
      if (std::isfinite(x) && difference <= absolute + relative * std::fabs(x)) continue;
    }
    if (found.elements++ == 0) {
      found.index = i;
      found.allowed =
          b.type == element::bits ? 0 : absolute + (std::isfinite(x) ? relative * std::fabs(x) : 0);
      found.eager = x;
      found.replay = y;
    }
    found.largest =
        std::isnan(difference) || std::isnan(found.largest) ? NAN : std::max(found.largest, difference);
  }
  return found;
}

}  // namespace verify_detail
}  // namespace capgate

#endif
