// Shared-key attention with a sink: one key, which is also the value, for all heads.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "engine/reference/linear.h"

namespace dsv4::reference {

// o = sum_i exp(a_i) key_i / (sum_i exp(a_i) + exp(sink)), a_i = <q, key_i> / sqrt(size)
template <class T>
std::vector<T> attend(std::span<const T> q, const std::vector<std::span<const T>>& keys, T sink) {
  const int size = static_cast<int>(q.size());
  const T scale = 1 / std::sqrt(static_cast<T>(size));
  std::vector<T> logits;
  T most = sink;
  for (const auto key : keys) {
    logits.push_back(dot(q.data(), key.data(), size) * scale);
    most = std::max(most, logits.back());
  }
  T total = std::exp(sink - most);
  std::vector<T> out(q.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const T weight = std::exp(logits[i] - most);
    total += weight;
    for (int d = 0; d < size; ++d) out[d] += weight * keys[i][d];
  }
  for (T& value : out) value /= total;
  return out;
}

}  // namespace dsv4::reference
