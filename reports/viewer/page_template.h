// The page without data, as npm built it.
#pragma once

#include <string_view>

namespace capgate::reports {

extern const std::string_view kPageTemplate;

}  // namespace capgate::reports
