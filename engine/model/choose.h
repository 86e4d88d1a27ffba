// The k largest.
#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

namespace dsv4 {

// Indices of the min(k, n) largest values in ascending order; of equals the first.
template <class T>
std::vector<int> top_k(std::span<const T> values, int k) {
  std::vector<int> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  const auto count = std::min<std::size_t>(static_cast<std::size_t>(k), order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                    [&](int a, int b) { return values[a] != values[b] ? values[a] > values[b] : a < b; });
  order.resize(count);
  std::sort(order.begin(), order.end());
  return order;
}

}  // namespace dsv4
