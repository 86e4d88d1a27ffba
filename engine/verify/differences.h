// How far two vectors of values are apart.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace dsv4 {

// Infinite when the sizes differ or there is a NaN on either side, wherever it stands.
template <class A, class B>
double largest_difference(std::span<const A> a, std::span<const B> b) {
  if (a.size() != b.size()) return INFINITY;
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (std::isnan(difference)) return INFINITY;
    largest = std::max(largest, difference);
  }
  return largest;
}

// 1 for nothing but zeros (and for what holds a NaN), so that it can be divided by.
inline double root_mean_square(std::span<const float> values) {
  double squares = 0;
  for (const float v : values) squares += static_cast<double>(v) * v;
  const double rms = std::sqrt(squares / static_cast<double>(std::max<std::size_t>(1, values.size())));
  return rms > 0 ? rms : 1;
}

}  // namespace dsv4
