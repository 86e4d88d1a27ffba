// Which ranges a `--region` names: GLOB for ranges without a domain, or DOMAIN@GLOB, where both are globs.
// Takes nothing of the C++ run-time library, for the preloaded library's sake.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/glob.h"

namespace capgate {

struct RegionPattern {
  std::string_view domain, name;
  bool has_domain = false;

  // An empty domain is none.
  bool matches(std::string_view range, std::string_view range_domain) const {
    return (has_domain ? glob_match(domain, range_domain) : range_domain.empty()) && glob_match(name, range);
  }
};

inline RegionPattern region_pattern(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] == '@') return {{text.data(), i}, {text.data() + i + 1, text.size() - i - 1}, true};
  return {{}, text, false};
}

}  // namespace capgate
