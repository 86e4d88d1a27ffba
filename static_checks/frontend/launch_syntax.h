// Launches that nvcc takes and clang does not: braces in the configuration, `kernel<<<grid, {x, y, 1}>>>(…)`,
// and brackets that a formatter took apart, `kernel << <1, 32 >> >(…)`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace capgate::lint {

// `source` with each such pair of braces written as parentheses of the same length, `(x, y, 1)`, and the
// brackets closed up, so that every other token stays where it was. What is in the parentheses is then a
// sequence of expressions; empty braces become a 1 (a dimension) or a 0 (size, stream). Nothing: there are
// none.
std::optional<std::string> launches_for_clang(std::string_view source);

}  // namespace capgate::lint
