#include "reports/settings/glob.h"

namespace capgate::reports {

bool path_glob_match(std::string_view pattern, std::string_view path) {
  if (glob_match(pattern, path)) return true;
  for (size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1))
    if (glob_match(pattern, path.substr(slash + 1))) return true;
  return false;
}

}  // namespace capgate::reports
