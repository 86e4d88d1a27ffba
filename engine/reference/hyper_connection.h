// Manifold-constrained hyper-connections: N residual streams of size D, collapsed into one before a sub-layer
// and mixed back after it.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "engine/reference/linear.h"
#include "engine/reference/norm.h"
#include "engine/reference/planted_bug.h"

namespace dsv4::reference {

// Small vectors of a site, decoded once.
template <class T>
struct HyperConnection {
  WeightMatrix fn;
  std::vector<T> base, scale;
};

template <class T>
struct SiteMix {
  std::vector<T> pre;   // [N]
  std::vector<T> post;  // [N]
  std::vector<T> comb;  // [N, N]: comb[j, k] is how much of old stream j goes into new stream k
};

template <class T>
T sigmoid(T x) {
  return 1 / (1 + std::exp(-x));
}

// mix = fn (streams / rms(streams)), over all N * D values at once.
template <class T>
std::vector<T> mixing_logits(const HyperConnection<T>& hc, std::span<const T> streams, T rms_eps) {
  std::vector<T> mix = project(hc.fn, streams);
  const T scale = inverse_rms(streams, rms_eps);
  for (T& value : mix) value *= scale;
  return mix;
}

// Rows sum to one by softmax, then columns and rows in turn are normalised; it ends on columns.
template <class T>
void sinkhorn(std::span<T> comb, int n, int iterations, T eps) {
  for (int j = 0; j < n; ++j) {
    const auto row = comb.subspan(static_cast<std::size_t>(j) * n, n);
    const T most = *std::max_element(row.begin(), row.end());
    T sum = 0;
    for (T& value : row) sum += value = std::exp(value - most);
    for (T& value : row) value = value / sum + eps;
  }
  const auto normalise = [&](int count, int step, int line) {
    T sum = eps;
    for (int i = 0; i < count; ++i) sum += comb[line + i * step];
    for (int i = 0; i < count; ++i) comb[line + i * step] /= sum;
  };
  for (int round = 0; round < iterations; ++round) {
    if (round > 0)
      for (int j = 0; j < n; ++j) normalise(n, 1, j * n);
    for (int k = 0; k < n; ++k) normalise(n, n, k);
  }
}

template <class T>
SiteMix<T> site_mix(const HyperConnection<T>& hc, std::span<const T> streams, int n, int iterations, T hc_eps,
                    T rms_eps) {
  const std::vector<T> mix = mixing_logits(hc, streams, planted(Bug::kHcEpsInMixer) ? hc_eps : rms_eps);
  SiteMix<T> out{std::vector<T>(n), std::vector<T>(n), std::vector<T>(static_cast<std::size_t>(n) * n)};
  for (int i = 0; i < n; ++i) {
    out.pre[i] = sigmoid(mix[i] * hc.scale[0] + hc.base[i]) + hc_eps;
    out.post[i] = 2 * sigmoid(mix[n + i] * hc.scale[1] + hc.base[n + i]);
  }
  for (int i = 0; i < n * n; ++i) out.comb[i] = mix[2 * n + i] * hc.scale[2] + hc.base[2 * n + i];
  sinkhorn(std::span<T>(out.comb), n, iterations, hc_eps);
  return out;
}

// The head has a pre alone.
template <class T>
std::vector<T> head_mix(const HyperConnection<T>& hc, std::span<const T> streams, int n, T hc_eps,
                        T rms_eps) {
  std::vector<T> pre = mixing_logits(hc, streams, rms_eps);
  for (int i = 0; i < n; ++i) pre[i] = sigmoid(pre[i] * hc.scale[0] + hc.base[i]) + hc_eps;
  return pre;
}

// x[d] = sum_n pre[n] streams[n, d]
template <class T>
std::vector<T> collapse(std::span<const T> streams, std::span<const T> pre) {
  const std::size_t d = streams.size() / pre.size();
  std::vector<T> x(d);
  for (std::size_t n = 0; n < pre.size(); ++n)
    for (std::size_t i = 0; i < d; ++i) x[i] += pre[n] * streams[n * d + i];
  return x;
}

// streams[k, d] = post[k] y[d] + sum_j comb[j, k] streams[j, d]
template <class T>
void expand(std::span<T> streams, std::span<const T> y, const SiteMix<T>& mix) {
  const std::size_t n = mix.post.size(), d = y.size();
  const std::vector<T> old(streams.begin(), streams.end());
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = 0; i < d; ++i) {
      T value = mix.post[k] * y[i];
      for (std::size_t j = 0; j < n; ++j)
        value += mix.comb[planted(Bug::kCombTransposed) ? k * n + j : j * n + k] * old[j * d + i];
      streams[k * d + i] = value;
    }
}

}  // namespace dsv4::reference
