// y = W x.
#pragma once

#include <span>
#include <vector>

#include "engine/weights/weight_matrix.h"

namespace dsv4::reference {

// Eight partial sums: as exact as one, and the compiler can use vector registers without reordering anything.
template <class T>
T dot(const T* a, const T* b, int n) {
  T sum[8] = {};
  int i = 0;
  for (; i + 8 <= n; i += 8)
    for (int j = 0; j < 8; ++j) sum[j] += a[i + j] * b[i + j];
  for (; i < n; ++i) sum[0] += a[i] * b[i];
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

// Rows [first, first + count) of W times x.
template <class T>
std::vector<T> project_rows(const WeightMatrix& w, std::span<const T> x, int first, int count) {
  std::vector<T> y(static_cast<std::size_t>(count)), row(static_cast<std::size_t>(w.cols));
  for (int r = 0; r < count; ++r) {
    w.decode_row(first + r, row.data());
    y[r] = dot(row.data(), x.data(), w.cols);
  }
  return y;
}

template <class T>
std::vector<T> project(const WeightMatrix& w, std::span<const T> x) {
  return project_rows(w, x, 0, w.rows);
}

template <class T>
std::vector<T> project(const WeightMatrix& w, const std::vector<T>& x) {
  return project_rows(w, std::span<const T>(x), 0, w.rows);
}

}  // namespace dsv4::reference
