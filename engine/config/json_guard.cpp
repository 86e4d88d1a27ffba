#include "engine/config/json_guard.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace dsv4 {
namespace {

using capgate::Error;

// Before the parser sees the text: its own depth is not bounded.
bool nested_too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
      }
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxJsonDepth) return true;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

// "[json.exception.parse_error.101] parse error at line 1…" without the library's own bracket.
std::string without_tag(std::string_view what) {
  const auto end = what.find("] ");
  return std::string(end == std::string_view::npos ? what : what.substr(end + 2));
}

}  // namespace

capgate::Result<std::unique_ptr<nlohmann::json>> parse_json(std::string_view text, std::string_view origin) {
  if (nested_too_deep(text))
    return Error{fmt::format("{}: nested deeper than {} levels", origin, kMaxJsonDepth)};
  std::vector<std::set<std::string>> keys;
  std::string repeated;
  const auto watch = [&](int, nlohmann::json::parse_event_t event, nlohmann::json& value) {
    if (event == nlohmann::json::parse_event_t::object_start) keys.emplace_back();
    if (event == nlohmann::json::parse_event_t::object_end) keys.pop_back();
    if (event == nlohmann::json::parse_event_t::key && repeated.empty()) {
      const auto& key = value.get_ref<const std::string&>();
      if (!keys.back().insert(key).second) repeated = key;
    }
    return true;
  };
  auto parsed = std::make_unique<nlohmann::json>();
  try {
    *parsed = nlohmann::json::parse(text.begin(), text.end(), watch);
  } catch (const nlohmann::json::exception& e) {
    return Error{fmt::format("{}: not valid JSON: {}", origin, without_tag(e.what()))};
  }
  if (!repeated.empty()) return Error{fmt::format("{}: the key \"{}\" occurs twice", origin, repeated)};
  return parsed;
}

}  // namespace dsv4
