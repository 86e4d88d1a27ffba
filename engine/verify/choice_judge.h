// The rule for choices made by score: where a choice is not the golden one, the scores that were swapped must
// lie within 1e-5 of their spread of each other in double precision (a rounding error decided), and the
// golden choice is taken, so that nothing else may differ.
#pragma once

#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "engine/reference/probe.h"

namespace dsv4 {

inline constexpr double kTieBound = 1e-5;

// Largest distance between a score that only `own` chose and one that only `golden` chose, over the spread
// (largest minus smallest) of all; 0 when the choices are equal. Both are ascending.
double swapped_distance(std::span<const double> scores, std::span<const int> own,
                        std::span<const int> golden);

struct ChoiceTally {
  int made = 0;
  int forced = 0;               // differed from the golden choice within the bound
  int wrong = 0;                // differed beyond it
  double largest_distance = 0;  // of all that differed
};

// Keeps the double-precision scores of one step, then judges another engine's choices at the same sites by
// them.
class ChoiceJudge {
 public:
  void keep(const reference::ChoiceSite& site, std::span<const double> scores) {
    scores_[key(site)].assign(scores.begin(), scores.end());
  }
  void judge(const reference::ChoiceSite& site, std::span<const int> own, std::span<const int> golden);
  void next_step() { scores_.clear(); }
  const ChoiceTally& tally() const { return tally_; }

 private:
  using Key = std::tuple<int, int, int>;
  static Key key(const reference::ChoiceSite& site) { return {site.kind, site.layer, site.row}; }
  std::map<Key, std::vector<double>> scores_;
  ChoiceTally tally_;
};

}  // namespace dsv4
