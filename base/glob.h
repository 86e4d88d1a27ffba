// Globs as the command line, settings and suppressions write them: `*` any run of characters ('/' too), `?`
// one character.
#pragma once

#include <cstddef>
#include <string_view>

namespace capgate {

// Time is at worst pattern × text, whatever the pattern. Takes no memory and nothing of the C++ run-time
// library, for the preloaded library's sake.
inline bool glob_match(std::string_view pattern, std::string_view text) {
  constexpr auto kNone = static_cast<size_t>(-1);
  const char* const glob = pattern.data();
  const char* const name = text.data();
  size_t p = 0, t = 0, star = kNone, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && glob[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && (glob[p] == '?' || glob[p] == name[t])) {
      ++p;
      ++t;
    } else if (star != kNone) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && glob[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace capgate
