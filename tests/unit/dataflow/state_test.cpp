#include "static_checks/domain/state.h"

#include <gtest/gtest.h>

namespace capgate::lint {
namespace {

class StateTest : public testing::Test {
 protected:
  Paths paths;
  TargetSets targets;
  Trace trace;
  PathId object = paths.root(Step::variable, 1);
  PathId field = paths.field(object, 3);
  PathId other = paths.field(object, 4);
};

TEST_F(StateTest, DeepTaintHoldsBelowUnlessACellSaysOtherwise) {
  State s;
  s.at(object).taint = &trace;
  EXPECT_EQ(s.read(paths, field).taint, nullptr);
  s.at(object).deep = true;
  EXPECT_EQ(s.read(paths, field).taint, &trace);
  s.at(field);  // the host wrote it
  EXPECT_EQ(s.read(paths, field).taint, nullptr);
  EXPECT_EQ(s.read(paths, other).taint, &trace);
}

TEST_F(StateTest, AKnownIndexFallsBackToAnyIndex) {
  State s;
  const PathId any = paths.extend(object, Step::element, kAny);
  const PathId second = paths.extend(object, Step::element, 2);
  s.at(any).taint = &trace;
  EXPECT_EQ(s.read(paths, second).taint, &trace);
  s.at(second);
  EXPECT_EQ(s.read(paths, second).taint, nullptr);
  EXPECT_EQ(s.read(paths, any).taint, &trace);
  s.at(paths.field(any, 3)).taint = &trace;
  EXPECT_EQ(s.read(paths, paths.field(paths.extend(object, Step::element, 5), 3)).taint, &trace);
}

TEST_F(StateTest, JoinKeepsTaintAndForgetsWhatDiffers) {
  State a, b;
  a.at(field).has_constant = true;
  a.at(field).constant = 1;
  b.at(field).has_constant = true;
  b.at(field).constant = 2;
  b.at(other).taint = &trace;
  join(a, b, paths, targets, Flow{});
  EXPECT_FALSE(a.find(field)->has_constant);
  EXPECT_EQ(a.find(other)->taint, &trace);
}

TEST_F(StateTest, ADeadArmDoesNotCount) {
  State a, b;
  b.dead = true;
  b.at(field).taint = &trace;
  join(a, b, paths, targets, Flow{});
  EXPECT_EQ(a.read(paths, field).taint, nullptr);
  State c;
  c.dead = true;
  join(c, a, paths, targets, Flow{});
  EXPECT_FALSE(c.dead);
}

TEST_F(StateTest, ARegionThatOneArmBeganIsOpenAndOneThatOneArmEndedIsClosed) {
  Flow outside, inside;
  inside.region = 2;
  State began, skipped;
  began.flow = inside;
  skipped.flow = outside;
  State after = began;
  join(after, skipped, paths, targets, outside);
  EXPECT_EQ(after.flow.region, 2u);
  after = skipped;
  join(after, began, paths, targets, outside);
  EXPECT_EQ(after.flow.region, 2u);
  after = began;  // was open before, one arm ended it
  join(after, skipped, paths, targets, inside);
  EXPECT_EQ(after.flow.region, 0u);
  after = skipped;
  join(after, began, paths, targets, inside);
  EXPECT_EQ(after.flow.region, 0u);
}

TEST_F(StateTest, PathsToOneCaptureGuardHoldOnlyWhereBothHaveIt) {
  State a, b;
  a.flow.not_capturing = 1;
  join(a, b, paths, targets, Flow{});
  EXPECT_FALSE(a.flow.not_capturing);
}

TEST(TargetSets, EqualSetsAreOneAndLargeOnesAreCut) {
  TargetSets targets;
  EXPECT_EQ(targets.intern({3, 1, 3}), targets.intern({1, 3}));
  EXPECT_EQ(targets.intern({}), 0u);
  EXPECT_EQ(targets.join(targets.one(4), targets.one(5)), targets.intern({4, 5}));
  std::vector<PathId> many;
  for (PathId p = 1; p < 100; ++p) many.push_back(p);
  EXPECT_EQ(targets[targets.intern(many)].size(), TargetSets::kMax);
}

}  // namespace
}  // namespace capgate::lint
