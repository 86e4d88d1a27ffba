// Rotary position embedding over the trailing dimensions of a head, in interleaved pairs.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "engine/config/model_config.h"
#include "engine/model/rope_table.h"
#include "engine/reference/planted_bug.h"

namespace dsv4::reference {

enum class Rotation { kForward, kBackward };

// Pair i of the last 2 * frequencies.size() values turns by position * frequencies[i]:
//   (a, b) -> (a cos - b sin, b cos + a sin), with -sin backward.
template <class T>
void rotate(std::span<T> x, int position, std::span<const T> frequencies,
            Rotation rotation = Rotation::kForward) {
  T* tail = planted(Bug::kRopeOnFirstDims) ? x.data() : x.data() + x.size() - 2 * frequencies.size();
  const std::size_t pairs = frequencies.size(), halves = planted(Bug::kHalfSplitRope) ? pairs : 0;
  for (std::size_t i = 0; i < pairs; ++i) {
    const T angle = static_cast<T>(position) * frequencies[i];
    const T cosine = std::cos(angle),
            sine = rotation == Rotation::kForward ? std::sin(angle) : -std::sin(angle);
    T& first = tail[halves ? i : 2 * i];
    T& second = tail[halves ? i + halves : 2 * i + 1];
    const T a = first, b = second;
    first = a * cosine - b * sine;
    second = b * cosine + a * sine;
  }
}

}  // namespace dsv4::reference
