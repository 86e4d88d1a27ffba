#include "engine/model/sampling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace dsv4 {
namespace {

const std::vector<float> kLogits = {0.0f, 2.0f, 1.0f, 2.0f, -1.0f};

int draw(const Sampling& sampling, int position) {
  return next_token(std::span<const float>(kLogits), sampling, position);
}

TEST(Sampling, GreedyTakesTheFirstOfTheLargest) {
  EXPECT_EQ(draw({}, 0), 1);
}

TEST(Sampling, DrawsFromTheSoftmax) {
  const Sampling sampling{2.0, 0, 42};
  constexpr int kDraws = 40000;
  std::vector<int> count(kLogits.size());
  for (int i = 0; i < kDraws; ++i) ++count[draw(sampling, i)];
  double total = 0;
  for (const float logit : kLogits) total += std::exp(logit / 2.0);
  for (std::size_t i = 0; i < kLogits.size(); ++i)
    EXPECT_NEAR(count[i] / double{kDraws}, std::exp(kLogits[i] / 2.0) / total, 0.01) << i;
}

TEST(Sampling, TopKLeavesTheOthersOut) {
  const Sampling sampling{5.0, 3, 1};
  std::vector<int> count(kLogits.size());
  for (int i = 0; i < 2000; ++i) ++count[draw(sampling, i)];
  EXPECT_EQ(count[0], 0);
  EXPECT_EQ(count[4], 0);
  EXPECT_GT(count[1], 300);
  EXPECT_GT(count[2], 300);
  EXPECT_GT(count[3], 300);
}

TEST(Sampling, IsTheSameForASeedAndAnotherForAnother) {
  int differ = 0;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(draw({1.0, 0, 7}, i), draw({1.0, 0, 7}, i));
    differ += draw({1.0, 0, 7}, i) != draw({1.0, 0, 8}, i);
  }
  EXPECT_GT(differ, 20);
}

}  // namespace
}  // namespace dsv4
