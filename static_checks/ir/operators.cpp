#include "static_checks/ir/operators.h"

#include <array>
#include <cstddef>

namespace capgate::lint {

std::string_view spelling(BinaryOp op) {
  static constexpr std::array<std::string_view, 34> kSpellings{
      "",  ".*", "->*", "*",  "/",  "%", "+",  "-",  "<<", ">>", "<=>", "<",   ">",   "<=", ">=", "==", "!=",
      "&", "^",  "|",   "&&", "||", "=", "*=", "/=", "%=", "+=", "-=",  "<<=", ">>=", "&=", "^=", "|=", ","};
  static_assert(kSpellings.size() == static_cast<size_t>(BinaryOp::comma) + 1);
  return kSpellings[static_cast<size_t>(op)];
}

std::string_view spelling(UnaryOp op) {
  static constexpr std::array<std::string_view, 15> kSpellings{
      "",        "++", "--", "++", "--", "&", "*", "+", "-", "~", "!", "__real", "__imag", "__extension__",
      "co_await"};
  static_assert(kSpellings.size() == static_cast<size_t>(UnaryOp::await) + 1);
  return kSpellings[static_cast<size_t>(op)];
}

}  // namespace capgate::lint
