#include "static_checks/domain/paths.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace capgate::lint {
namespace {

TEST(Paths, TheSameStepsAreTheSamePath) {
  Paths paths;
  const PathId p = paths.root(Step::variable, 1);
  EXPECT_EQ(paths.field(p, 7), paths.field(p, 7));
  EXPECT_NE(paths.field(p, 7), paths.field(p, 8));
  EXPECT_NE(paths.field(p, 7), p);
  EXPECT_NE(paths.extend(p, Step::deref, 0), paths.extend(p, Step::element, 0));
}

TEST(Paths, IndicesAddUpAndHighOnesAreAny) {
  Paths paths;
  const PathId array = paths.root(Step::variable, 1);
  const PathId first = paths.extend(array, Step::element, 0);
  EXPECT_EQ(paths.indexed(first, 3), paths.extend(array, Step::element, 3));
  EXPECT_EQ(paths.indexed(paths.indexed(first, 3), 2), paths.extend(array, Step::element, 5));
  EXPECT_EQ(paths.indexed(first, kAny), paths.extend(array, Step::element, kAny));
  EXPECT_EQ(paths.indexed(first, kMaxIndex + 1), paths.extend(array, Step::element, kAny));
  EXPECT_EQ(paths.indexed(array, 3), array);  // a scalar
}

TEST(Paths, UnknownIndicesStandForManyCells) {
  Paths paths;
  const PathId array = paths.root(Step::variable, 1);
  EXPECT_FALSE(paths[paths.extend(array, Step::element, 2)].summary);
  const PathId any = paths.extend(array, Step::element, kAny);
  EXPECT_TRUE(paths[any].summary);
  EXPECT_TRUE(paths[paths.field(any, 4)].summary);
}

TEST(Paths, DepthIsBounded) {
  Paths paths;
  PathId p = paths.root(Step::variable, 1);
  for (int i = 0; i < 3 * kMaxSteps; ++i) p = paths.field(p, 9);
  EXPECT_EQ(paths[p].depth, kMaxSteps);
  EXPECT_TRUE(paths[p].summary);
  EXPECT_EQ(paths.field(p, 1), p);
}

TEST(Paths, ManyPathsAreFoundAgain) {
  Paths paths;
  std::vector<PathId> made;
  for (uint32_t v = 1; v <= 300; ++v)
    for (uint32_t key = 0; key < 40; ++key)
      made.push_back(paths.field(paths.extend(paths.root(Step::variable, v), Step::element, kAny), key));
  EXPECT_EQ(std::set<PathId>(made.begin(), made.end()).size(), made.size());
  size_t next = 0;
  for (uint32_t v = 1; v <= 300; ++v)
    for (uint32_t key = 0; key < 40; ++key) {
      const PathId again = paths.field(paths.extend(paths.root(Step::variable, v), Step::element, kAny), key);
      ASSERT_EQ(again, made[next++]);
      ASSERT_EQ(paths[again].key, key);
      ASSERT_EQ(paths[paths[again].root].key, v);
    }
  EXPECT_NE(paths.root(Step::variable, 1), paths.root(Step::heap, 1));
}

TEST(Paths, RebaseKeepsTheSteps) {
  Paths paths;
  const PathId a = paths.root(Step::variable, 1), b = paths.root(Step::symbol, 0);
  const PathId member = paths.field(paths.extend(a, Step::element, 2), 5);
  EXPECT_EQ(paths.rebase(member, a, b), paths.field(paths.extend(b, Step::element, 2), 5));
  EXPECT_TRUE(paths.below(member, a));
  EXPECT_FALSE(paths.below(member, b));
}

}  // namespace
}  // namespace capgate::lint
