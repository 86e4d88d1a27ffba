// Rotary position embedding over the trailing dimensions of a head, in interleaved pairs.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "engine/config/model_config.h"
#include "engine/reference/rope_table.h"

namespace dsv4::reference {

enum class Rotation { kForward, kBackward };

// Pair i of the last 2 * frequencies.size() values turns by position * frequencies[i]:
//   (a, b) -> (a cos - b sin, b cos + a sin), with -sin backward.
template <class T>
void rotate(std::span<T> x, int position, std::span<const T> frequencies,
            Rotation rotation = Rotation::kForward) {
  T* tail = x.data() + x.size() - 2 * frequencies.size();
  for (std::size_t i = 0; i < frequencies.size(); ++i) {
    const T angle = static_cast<T>(position) * frequencies[i];
    const T cosine = std::cos(angle),
            sine = rotation == Rotation::kForward ? std::sin(angle) : -std::sin(angle);
    const T a = tail[2 * i], b = tail[2 * i + 1];
    tail[2 * i] = a * cosine - b * sine;
    tail[2 * i + 1] = b * cosine + a * sine;
  }
}

}  // namespace dsv4::reference
