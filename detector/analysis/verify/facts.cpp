#include "detector/analysis/verify/facts.h"

#include <charconv>
#include <system_error>

namespace capgate::analysis {

std::string_view Facts::at(std::string_view key) const {
  for (size_t from = 0; from < text_.size();) {
    size_t to = text_.find(' ', from);
    if (to == std::string_view::npos) to = text_.size();
    const std::string_view fact = text_.substr(from, to - from);
    const size_t equals = fact.find('=');
    if (equals != std::string_view::npos) {
      const std::string_view found = fact.substr(0, equals);
      if (found == "why") return key == found ? text_.substr(from + equals + 1) : std::string_view();
      if (found == key) return fact.substr(equals + 1);
    }
    from = to + 1;
  }
  return {};
}

uint64_t Facts::number(std::string_view key) const {
  std::string_view digits = at(key);
  const bool hex = digits.starts_with("0x");
  if (hex) digits.remove_prefix(2);
  uint64_t value = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
  return read.ec == std::errc() && read.ptr == digits.data() + digits.size() ? value : 0;
}

double Facts::real(std::string_view key) const {
  const std::string_view digits = at(key);
  double value = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return read.ec == std::errc() ? value : 0;
}

}  // namespace capgate::analysis
