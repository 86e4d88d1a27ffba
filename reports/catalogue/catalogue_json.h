// The catalogue for other programs.
#pragma once

#include <string>

namespace capgate::reports {

// {"rules": [{"id", "title", "fault", "why", "in_region", "a_step", "hint", "fix", "language", "bad", "good",
// "seen_by", "related"}…]}, ends with a newline.
std::string catalogue_json();

}  // namespace capgate::reports
