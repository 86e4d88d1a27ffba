// Reading JSON that nobody vouches for: bounded nesting, no repeated keys, one sentence when it is refused.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "base/result.h"

namespace dsv4 {

// `origin` names the text in errors (a file name).
capgate::Result<std::unique_ptr<nlohmann::json>> parse_json(std::string_view text, std::string_view origin);

}  // namespace dsv4
