// Launch configurations with braces, `kernel<<<grid, {x, y, 1}, 0, stream>>>(…)`: nvcc takes them, clang does
// not.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace capgate::lint {

// `source` with each such pair of braces written as parentheses of the same length, `(x, y, 1)`, so that
// every token stays where it was; what is in them is then a sequence of expressions. Empty braces become a 1
// (a dimension) or a 0 (size, stream). Nothing: there are none.
std::optional<std::string> without_launch_braces(std::string_view source);

}  // namespace capgate::lint
