// Globs of paths.
#pragma once

#include <string_view>

#include "base/glob.h"

namespace capgate::reports {

using capgate::glob_match;

// The pattern may also match from any folder on ("model/*.py" matches "/src/model/moe.py").
bool path_glob_match(std::string_view pattern, std::string_view path);

}  // namespace capgate::reports
