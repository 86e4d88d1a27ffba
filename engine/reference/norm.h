// Root-mean-square normalisation: x / sqrt(mean(x^2) + eps), with or without a weight a channel.
#pragma once

#include <cmath>
#include <span>

#include "engine/reference/linear.h"

namespace dsv4::reference {

template <class T>
T inverse_rms(std::span<const T> x, T eps) {
  const T mean = dot(x.data(), x.data(), static_cast<int>(x.size())) / static_cast<T>(x.size());
  return 1 / std::sqrt(mean + eps);
}

template <class T>
void rms_norm(std::span<T> x, T eps) {
  const T scale = inverse_rms(std::span<const T>(x), eps);
  for (T& value : x) value *= scale;
}

template <class T>
void rms_norm(std::span<T> x, std::span<const T> weight, T eps) {
  rms_norm(x, eps);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] *= weight[i];
}

}  // namespace dsv4::reference
