#include "engine/verify/choice_judge.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dsv4 {

double swapped_distance(std::span<const double> scores, std::span<const int> own,
                        std::span<const int> golden) {
  std::vector<int> only_own, only_golden;
  std::set_difference(own.begin(), own.end(), golden.begin(), golden.end(), std::back_inserter(only_own));
  std::set_difference(golden.begin(), golden.end(), own.begin(), own.end(), std::back_inserter(only_golden));
  if (only_own.empty() && only_golden.empty()) return 0;
  if (only_own.size() != only_golden.size() || scores.empty()) return std::numeric_limits<double>::infinity();
  const auto [least, most] = std::minmax_element(scores.begin(), scores.end());
  double distance = 0;
  for (const int a : only_own)
    for (const int b : only_golden) distance = std::max(distance, std::abs(scores[a] - scores[b]));
  // All scores equal: any choice is as good.
  return *most > *least ? distance / (*most - *least) : 0;
}

void ChoiceJudge::judge(const reference::ChoiceSite& site, std::span<const int> own,
                        std::span<const int> golden) {
  ++tally_.made;
  if (std::ranges::equal(own, golden)) return;
  const auto it = scores_.find(key(site));
  const bool in_range = it != scores_.end() && std::ranges::all_of(golden, [&](int i) {
                          return i >= 0 && i < static_cast<int>(it->second.size());
                        });
  const double distance =
      in_range ? swapped_distance(it->second, own, golden) : std::numeric_limits<double>::infinity();
  tally_.largest_distance = std::max(tally_.largest_distance, distance);
  ++(distance < kTieBound ? tally_.forced : tally_.wrong);
}

}  // namespace dsv4
