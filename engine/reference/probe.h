// Looking into a step of the reference, and taking its choices out of its hands.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace dsv4::reference {

// Where a step chooses by score.
struct ChoiceSite {
  enum Kind { kIndex, kExperts } kind;
  int layer;
  int row;
  int position;
};

template <class T>
struct Probe {
  // A component (engine/model/components.h, with its "layers.L." prefix) of one row, as soon as it is there.
  std::function<void(std::string_view component, int row, std::span<const T> values)> activation;
  // Called with the scores and the choice made from them, ascending; the choice may be replaced.
  std::function<void(const ChoiceSite& site, std::span<const T> scores, std::vector<int>& chosen)> choice;
};

}  // namespace dsv4::reference
