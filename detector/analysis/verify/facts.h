// What a record of a verification says: KEY=VALUE, one space between two of them; `why` reaches to the end.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace capgate::analysis {

class Facts {
 public:
  explicit Facts(std::string_view text) : text_(text) {}

  // Empty where there is none.
  std::string_view at(std::string_view key) const;
  std::string text(std::string_view key) const { return std::string(at(key)); }
  // 0 where there is none, or no such number: what a program says of itself is not trusted further.
  uint64_t number(std::string_view key) const;  // "12", "0x1f"
  double real(std::string_view key) const;
  bool flag(std::string_view key) const { return at(key) == "1"; }
  int small(std::string_view key) const { return static_cast<int>(number(key) & 0xffffff); }

 private:
  std::string_view text_;
};

}  // namespace capgate::analysis
