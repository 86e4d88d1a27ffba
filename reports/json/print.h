// JSON laid out for people and diffs: what fits on a line stands on one, so that a capture of two thousand
// nodes has two thousand lines and not ten thousand.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace capgate::reports {

std::string print_json(const nlohmann::ordered_json& value);

}  // namespace capgate::reports
