// Launches that only nvcc reads keep every token's place.
#include <gtest/gtest.h>

#include "static_checks/frontend/launch_syntax.h"

namespace capgate::lint {
namespace {

struct Case {
  const char* before;
  const char* after;
};
class LaunchSyntax : public testing::TestWithParam<Case> {};
TEST_P(LaunchSyntax, BecomesClangs) {
  const auto text = launches_for_clang(GetParam().before);
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, GetParam().after);
  EXPECT_EQ(text->size(), std::string(GetParam().before).size());
}
INSTANTIATE_TEST_SUITE_P(
    Forms, LaunchSyntax,
    testing::Values(Case{"k<<<g, {x, y, 1}, 0, s>>>(p);", "k<<<g, (x, y, 1), 0, s>>>(p);"},
                    Case{"k<<<{1, 2},\n  {3, 4}>>>();", "k<<<(1, 2),\n  (3, 4)>>>();"},
                    Case{"k<<<{}, {}, {}, { }>>>();", "k<<< 1,  1,  0,   0>>>();"},
                    Case{"k<<<{x, }, 1>>>();", "k<<<(x  ), 1>>>();"},
                    Case{"k<<<{f({1}), dim3{2}.x}, 1>>>();", "k<<<(f({1}), dim3{2}.x), 1>>>();"},
                    Case{"k<<<1, /* { */ {2, '}'}>>>();", "k<<<1, /* { */ (2, '}')>>>();"},
                    Case{"a(1'000); k<<<1, {2}>>>();", "a(1'000); k<<<1, (2)>>>();"},
                    Case{"k << <1, 32 >> > (p);", "k <<< 1, 32 >>>  (p);"},
                    Case{"k<<\t<n >> 5, 32, 0, s>> >(p);", "k<<< n >> 5, 32, 0, s>>> (p);"},
                    Case{"k<<<g, 32>> >(p);", "k<<<g, 32>>> (p);"},
                    Case{"k< < <{2}, 32> > >(p);", "k<<<  (2), 32>>>  (p);"}));

class OtherSyntax : public testing::TestWithParam<const char*> {};
TEST_P(OtherSyntax, StaysAsItIs) {
  EXPECT_FALSE(launches_for_clang(GetParam()));
}
INSTANTIATE_TEST_SUITE_P(Forms, OtherSyntax,
                         testing::Values("", "k<<<g, b, 0, s>>>(p);", "k<<<g, dim3{1, 2}>>>();",
                                         "// k<<<1, {2}>>>()\n", "auto s = \"k<<<1, {2}>>>\";",
                                         "auto s = R\"x(k<<<1, {2}>>>)x\";", "k<<<1, {2}", "k<<<1, {2;}>>>",
                                         "k<<<f([] { return 1; }), 2>>>();", "a <<< {",
                                         "operator<< <int>(out, 1 >> 2);", "operator << <A<B<C>> >(out);",
                                         "k<<<of<A<B<C>> >(n), 32>>>();", "a << b < c >> d > e;",
                                         "x << <1, 2;"));

}  // namespace
}  // namespace capgate::lint
