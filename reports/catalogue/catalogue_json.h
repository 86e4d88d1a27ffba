// The catalogue for other programs.
#pragma once

#include <string>

namespace capgate::reports {

// {"rules": [{"id", "title", "status"?, "fault", "why", "in_region", "a_step", "hint", "fix", "language",
// "bad", "good", "seen_by", "related", "if_captured", "graph"}…], "situations": [{"id", "rule", "title",
// "why", "fix", "python_fix"?, "cpp"?, "python"?}…], "replacements": [{"apis", "instead"}…]}, ends with a
// newline.
std::string catalogue_json();

}  // namespace capgate::reports
