// The compressors: `ratio` tokens become one entry that later queries attend to (CSA, HCA) or are scored
// against (the lightning indexer).
#pragma once

#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "engine/model/decode_state.h"
#include "engine/reference/linear.h"
#include "engine/reference/norm.h"
#include "engine/reference/planted_bug.h"
#include "engine/reference/rope.h"

namespace dsv4::reference {

template <class T>
struct Compressor {
  CompressorShape shape{};
  WeightMatrix kv, gate;
  std::vector<T> ape;   // [ratio, width]
  std::vector<T> norm;  // [dim]
};

// One row's buffers, as model/decode_state.h has them.
template <class T>
struct CompressorRow {
  std::span<T> kv, gate;  // [ring, width]
  std::span<T> entries;   // [max_entries, dim]

  std::span<const T> entry(int w, int dim) const {
    return entries.subspan(static_cast<std::size_t>(w) * dim, dim);
  }
};

// Slot p mod ring takes the token's projections; the gate gets the bias of its place in the window.
template <class T>
void store_token(const Compressor<T>& c, CompressorRow<T> row, std::span<const T> x, int position) {
  const auto kv = project(c.kv, x), gate = project(c.gate, x);
  const std::size_t slot = static_cast<std::size_t>(position % c.shape.ring) * c.shape.width;
  const int place = (position + planted(Bug::kBiasOfNextSlot)) % c.shape.ratio;
  const std::size_t bias = static_cast<std::size_t>(place) * c.shape.width;
  for (int i = 0; i < c.shape.width; ++i) {
    row.kv[slot + i] = kv[i];
    row.gate[slot + i] = gate[i] + c.ape[bias + i];
  }
}

// E[d] = sum_j softmax_j(gate[j, d]) kv[j, d] over the window that ends at `position`. With overlap the
// window before takes part with the first half of its channels, this one with the second; before position 0
// there is nothing.
template <class T>
std::vector<T> pool_window(const CompressorShape& s, CompressorRow<T> row, int position) {
  std::vector<T> entry(static_cast<std::size_t>(s.dim));
  for (int d = 0; d < s.dim; ++d) {
    const auto at = [&](int j) {
      const int token = position - s.ring + 1 + j;
      const bool second_half = (j >= s.ratio) != planted(Bug::kOverlapHalvesSwapped);
      const int channel = s.overlap && second_half ? s.dim + d : d;
      return static_cast<std::size_t>(token % s.ring) * s.width + channel;
    };
    const int first = std::max(0, s.ring - 1 - position);
    T most = -std::numeric_limits<T>::infinity();
    for (int j = first; j < s.ring; ++j) most = std::max(most, row.gate[at(j)]);
    T weights = 0, sum = 0;
    for (int j = first; j < s.ring; ++j) {
      const T weight = std::exp(row.gate[at(j)] - most);
      weights += weight;
      sum += weight * row.kv[at(j)];
    }
    entry[d] = sum / weights;
  }
  return entry;
}

// Feeds one token; returns the entry that it closes, or -1. The entry is rotated to its window's first
// position.
template <class T>
int compress(const Compressor<T>& c, CompressorRow<T> row, std::span<const T> x, int position,
             std::span<const T> frequencies, T eps) {
  store_token(c, row, x, position);
  if ((position + 1) % c.shape.ratio != 0) return -1;
  std::vector<T> entry = pool_window(c.shape, row, position);
  rms_norm(std::span<T>(entry), std::span<const T>(c.norm), eps);
  const int w = position / c.shape.ratio;
  rotate(std::span<T>(entry), w * c.shape.ratio, frequencies);
  std::copy(entry.begin(), entry.end(), row.entries.begin() + static_cast<std::ptrdiff_t>(w) * c.shape.dim);
  return w;
}

}  // namespace dsv4::reference
