#include "reports/merge/merge_sizes.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <vector>

namespace capgate::reports {
namespace {

struct Size {
  size_t begin = 0, end = 0;  // in the text: "4 to 16 bytes"
  uint64_t least = 0, largest = 0;
};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The digits that end at `end`; moves it to where they begin. False where there are none, or too many.
bool number_before(std::string_view text, size_t& end, uint64_t& number) {
  size_t begin = end;
  while (begin > 0 && is_digit(text[begin - 1])) --begin;
  const auto read = std::from_chars(text.data() + begin, text.data() + end, number);
  if (begin == end || read.ec != std::errc()) return false;
  end = begin;
  return true;
}

std::vector<Size> sizes_in(std::string_view text) {
  constexpr std::string_view kUnit = " byte", kRange = " to ";
  std::vector<Size> found;
  for (size_t at = text.find(kUnit); at != std::string_view::npos; at = text.find(kUnit, at + 1)) {
    Size size{at, at + kUnit.size(), 0, 0};
    if (size.end < text.size() && text[size.end] == 's') ++size.end;
    if (!number_before(text, size.begin, size.largest)) continue;
    size.least = size.largest;
    if (text.substr(0, size.begin).ends_with(kRange)) {
      size_t begin = size.begin - kRange.size();
      if (number_before(text, begin, size.least)) size.begin = begin;
    }
    found.push_back(size);
  }
  return found;
}

}  // namespace

void join_sizes(std::string& into, const std::string& from) {
  const std::vector<Size> own = sizes_in(into), other = sizes_in(from);
  if (own.size() != other.size()) return;
  for (size_t i = own.size(); i-- > 0;) {  // from the end, so that the places before it stay where they are
    const uint64_t least = std::min(own[i].least, other[i].least);
    const uint64_t largest = std::max(own[i].largest, other[i].largest);
    if (least == own[i].least && largest == own[i].largest) continue;
    into.replace(own[i].begin, own[i].end - own[i].begin,
                 std::to_string(least) + " to " + std::to_string(largest) + " bytes");
  }
}

}  // namespace capgate::reports
