// Launch configurations with braces keep every token's place.
#include <gtest/gtest.h>

#include "static_checks/frontend/launch_braces.h"

namespace capgate::lint {
namespace {

struct Case {
  const char* before;
  const char* after;
};
class LaunchBraces : public testing::TestWithParam<Case> {};
TEST_P(LaunchBraces, BecomeParentheses) {
  const auto text = without_launch_braces(GetParam().before);
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, GetParam().after);
  EXPECT_EQ(text->size(), std::string(GetParam().before).size());
}
INSTANTIATE_TEST_SUITE_P(
    Forms, LaunchBraces,
    testing::Values(Case{"k<<<g, {x, y, 1}, 0, s>>>(p);", "k<<<g, (x, y, 1), 0, s>>>(p);"},
                    Case{"k<<<{1, 2},\n  {3, 4}>>>();", "k<<<(1, 2),\n  (3, 4)>>>();"},
                    Case{"k<<<{}, {}, {}, { }>>>();", "k<<< 1,  1,  0,   0>>>();"},
                    Case{"k<<<{x, }, 1>>>();", "k<<<(x  ), 1>>>();"},
                    Case{"k<<<{f({1}), dim3{2}.x}, 1>>>();", "k<<<(f({1}), dim3{2}.x), 1>>>();"},
                    Case{"k<<<1, /* { */ {2, '}'}>>>();", "k<<<1, /* { */ (2, '}')>>>();"},
                    Case{"a(1'000); k<<<1, {2}>>>();", "a(1'000); k<<<1, (2)>>>();"}));

class NoLaunchBraces : public testing::TestWithParam<const char*> {};
TEST_P(NoLaunchBraces, StayAsTheyAre) {
  EXPECT_FALSE(without_launch_braces(GetParam()));
}
INSTANTIATE_TEST_SUITE_P(Forms, NoLaunchBraces,
                         testing::Values("", "k<<<g, b, 0, s>>>(p);", "k<<<g, dim3{1, 2}>>>();",
                                         "// k<<<1, {2}>>>()\n", "auto s = \"k<<<1, {2}>>>\";",
                                         "auto s = R\"x(k<<<1, {2}>>>)x\";", "k<<<1, {2}", "k<<<1, {2;}>>>",
                                         "k<<<f([] { return 1; }), 2>>>();", "a <<< {"));

}  // namespace
}  // namespace capgate::lint
