// The lightning indexer of CSA layers: which compressed entries a query attends to.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "engine/reference/compressor.h"
#include "engine/reference/linear.h"

namespace dsv4::reference {

// score[w] = sum_h weights[h] relu(<query_h, key_w> dim^-1/2); `weights` already carries heads^-1/2.
template <class T>
std::vector<T> index_scores(std::span<const T> query, std::span<const T> weights, CompressorRow<T> keys,
                            int dim, int closed) {
  const T scale = 1 / std::sqrt(static_cast<T>(dim));
  std::vector<T> scores(static_cast<std::size_t>(closed));
  for (int w = 0; w < closed; ++w)
    for (std::size_t h = 0; h < weights.size(); ++h) {
      const T product = dot(query.data() + h * dim, keys.entry(w, dim).data(), dim) * scale;
      if (product > 0) scores[w] += weights[h] * product;
    }
  return scores;
}

}  // namespace dsv4::reference
