#include "engine/config/json_guard.h"

#include <fmt/format.h>

#include "base/json/strict_json.h"

namespace dsv4 {
namespace {

using capgate::Error;
using capgate::StrictJson;

// "[json.exception.parse_error.101] parse error at line 1…" without the library's own bracket.
std::string without_tag(std::string_view what) {
  const auto end = what.find("] ");
  return std::string(end == std::string_view::npos ? what : what.substr(end + 2));
}

}  // namespace

capgate::Result<std::unique_ptr<nlohmann::json>> parse_json(std::string_view text, std::string_view origin) {
  try {
    return std::make_unique<nlohmann::json>(
        StrictJson::parse<nlohmann::json>(text, {}, [](auto&&...) { return true; }));
  } catch (const capgate::JsonRefused& refused) {
    return Error{fmt::format("{}: {}", origin, refused.why)};
  } catch (const nlohmann::json::exception& e) {
    return Error{fmt::format("{}: not valid JSON: {}", origin, without_tag(e.what()))};
  }
}

}  // namespace dsv4
