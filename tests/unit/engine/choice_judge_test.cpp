#include "engine/verify/choice_judge.h"

#include <gtest/gtest.h>

#include <cmath>

namespace dsv4 {
namespace {

using reference::ChoiceSite;

TEST(SwappedDistance, IsThatOfTheScoresThatWereSwapped) {
  const double scores[] = {0, 1, 0.5, 0.4999999, 0.25};
  const int own[] = {1, 2}, golden[] = {1, 3}, far[] = {1, 4}, more[] = {1, 2, 3};
  EXPECT_EQ(swapped_distance(scores, own, own), 0);
  EXPECT_NEAR(swapped_distance(scores, own, golden), 1e-7, 1e-12);
  EXPECT_EQ(swapped_distance(scores, own, far), 0.25);
  EXPECT_TRUE(std::isinf(swapped_distance(scores, own, more)));
}

TEST(ChoiceJudge, ForcesTiesAndCountsTheRestAsWrong) {
  ChoiceJudge judge;
  const ChoiceSite site{ChoiceSite::kIndex, 2, 0, 9}, other{ChoiceSite::kExperts, 2, 0, 9};
  const double scores[] = {0, 1, 0.5, 0.4999999, 0.25};
  judge.keep(site, scores);
  const int a[] = {1, 2}, tie[] = {1, 3}, far[] = {1, 4}, outside[] = {1, 5};
  judge.judge(site, a, a);
  judge.judge(site, a, tie);
  judge.judge(site, a, far);
  judge.judge(site, a, outside);
  judge.judge(other, a, tie);  // nothing is known of this site
  EXPECT_EQ(judge.tally().made, 5);
  EXPECT_EQ(judge.tally().forced, 1);
  EXPECT_EQ(judge.tally().wrong, 3);
  judge.next_step();
  judge.judge(site, a, tie);
  EXPECT_EQ(judge.tally().wrong, 4);
}

}  // namespace
}  // namespace dsv4
