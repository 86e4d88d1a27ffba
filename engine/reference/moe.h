// Mixture of experts: router, and the clamped SwiGLU that routed and shared experts have in common.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "engine/reference/hyper_connection.h"
#include "engine/reference/linear.h"
#include "engine/weights/model_weights.h"

namespace dsv4::reference {

// sqrt(softplus(Wg x)); softplus is the identity from 20 on.
template <class T>
std::vector<T> router_scores(const WeightMatrix& gate, std::span<const T> x) {
  std::vector<T> scores = project(gate, x);
  for (T& score : scores) score = std::sqrt(score > 20 ? score : std::log1p(std::exp(score)));
  return scores;
}

// scores[chosen] / (their sum + 1e-20) * scaling. An expert that is chosen twice counts twice.
template <class T>
std::vector<T> expert_shares(std::span<const T> scores, std::span<const int> chosen, T scaling) {
  std::vector<T> shares;
  T sum = 0;
  for (const int e : chosen) {
    shares.push_back(scores[e]);
    sum += scores[e];
  }
  for (T& share : shares) share = share / (sum + static_cast<T>(1e-20)) * scaling;
  return shares;
}

// W2 (silu(min(W1 x, limit)) * clamp(W3 x, -limit, limit))
template <class T>
std::vector<T> feed_forward(const ExpertWeights& e, std::span<const T> x, T limit) {
  std::vector<T> gate = project(e.w1, x);
  const std::vector<T> up = project(e.w3, x);
  for (std::size_t i = 0; i < gate.size(); ++i) {
    const T g = std::min(gate[i], limit);
    gate[i] = g * sigmoid(g) * std::clamp(up[i], -limit, limit);
  }
  return project(e.w2, gate);
}

}  // namespace dsv4::reference
