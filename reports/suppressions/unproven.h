// In place of a rule in a suppression file, for lint alone: what matches the glob need not be analysed.
#pragma once

#include <string_view>

namespace capgate::reports {

inline constexpr std::string_view kUnproven = "unproven";

}  // namespace capgate::reports
