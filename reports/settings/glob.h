// Globs as settings and suppressions write them: `*` any run of characters ('/' too), `?` one character.
#pragma once

#include <string_view>

namespace capgate::reports {

// Time is at worst pattern × text, whatever the pattern.
bool glob_match(std::string_view pattern, std::string_view text);

// For paths: the pattern may also match from any folder on ("model/*.py" matches "/src/model/moe.py").
bool path_glob_match(std::string_view pattern, std::string_view path);

}  // namespace capgate::reports
