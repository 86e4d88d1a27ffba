// Numbers in sentences: "1 file", "1,234 files".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace capgate {

inline std::string grouped(uint64_t number) {
  const std::string digits = std::to_string(number);
  std::string out;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

inline std::string counted(uint64_t number, std::string_view noun, std::string_view nouns) {
  return grouped(number).append(" ").append(number == 1 ? noun : nouns);
}

inline std::string counted(uint64_t number, std::string_view noun) {
  return counted(number, noun, std::string(noun) + "s");
}

}  // namespace capgate
