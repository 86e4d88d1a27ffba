// Which host values are counts, and what decides a test of them.
#include "static_checks/model/counts.h"

#include <gtest/gtest.h>

namespace capgate::lint::counts {
namespace {

TEST(Counts, AFlagThatEveryRunSetsIsACount) {
  const Counts set = join(0, true, kSetHere, true);  // `first = true; … first = false;`
  EXPECT_EQ(operand(set, false), kCounted);
  EXPECT_EQ(operand(join(set, false, 0, false), false), 0u);           // something else was put there
  EXPECT_EQ(operand(join(kSetHere, true, kChosen, true), false), 0u);  // `if (cfg.debug) wait = true;`
}

TEST(Counts, AConstantAloneDecidesNothing) {
  EXPECT_EQ(operand(kSetHere, true), kConstant);
  EXPECT_FALSE(is_count(decided_by(kConstant, kConstant)));
  EXPECT_FALSE(is_count(decided_by(kBound, kConstant)));  // `n > 4`
}

TEST(Counts, AllOfAComparisonIsCounted) {
  EXPECT_TRUE(is_count(decided_by(kCounted, kConstant)));
  EXPECT_TRUE(is_count(decided_by(kCounted, kBound)));  // `i == n - 1`
  EXPECT_FALSE(is_count(decided_by(kCounted, 0)));      // `i == cfg.dumped`
}

TEST(Counts, ArithmeticWithACountIsACount) {
  EXPECT_EQ(calculated(kCounted, 0), kCounted);
  EXPECT_EQ(calculated(input(2), 0), input(2));
  EXPECT_EQ(calculated(kBound, kConstant), kBound);
  EXPECT_EQ(calculated(0, kConstant), 0u);
}

TEST(Counts, ACallSaysWhatItsInputsAre) {
  const Counts test = decided_by(input(0), input(1));
  EXPECT_FALSE(is_count(test));
  EXPECT_TRUE(is_count(resolved(test, {kCounted, kBound})));
  EXPECT_EQ(resolved(test, {kCounted, 0}), 0u);
  EXPECT_EQ(resolved(test, {kCounted}), 0u);  // nothing is known of the second
  EXPECT_FALSE(is_count(resolved(test, {kCounted, input(3)})));
  EXPECT_EQ(resolved(test, {kCounted, input(3)}) & kInputBits, input(3));
}

TEST(Counts, WhatAFunctionLeavesIsItsCallers) {
  EXPECT_EQ(operand(given_back(input(1), {0, kCounted}), false), kCounted);
  EXPECT_EQ(operand(given_back(input(0), {0, kCounted}), false), 0u);
  // `if (layer % 2) return true; return false;`
  const Counts chosen = join(chosen_by(input(0), 0), true, kSetHere, true);
  EXPECT_EQ(operand(given_back(chosen, {kCounted}), false), kCounted);
  EXPECT_EQ(operand(given_back(chosen, {0}), false), 0u);
  EXPECT_EQ(chosen_by(kCounted, 0), 0u);
  EXPECT_EQ(chosen_by(input(0), kChosen), kChosen);
  EXPECT_EQ(passed_on(input(0), {input(4)}), input(4));
  EXPECT_EQ(passed_on(kConstant, {}), kConstant);
}

TEST(Counts, InputsBeyondTheLastAreNotKnown) {
  EXPECT_EQ(input(kInputs), 0u);
}

}  // namespace
}  // namespace capgate::lint::counts
