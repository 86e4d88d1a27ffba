#include "static_checks/frontend/launch_braces.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace capgate::lint {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

bool is_blank(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isspace(c) != 0; });
}

// The end of what starts at `at` and holds no code: a comment, a string or a character; else `at` itself.
size_t skip(std::string_view s, size_t at) {
  const auto rest = s.substr(at);
  if (rest.starts_with("//")) return std::min(s.find('\n', at), s.size());
  if (rest.starts_with("/*")) {
    const size_t end = s.find("*/", at + 2);
    return end == std::string_view::npos ? s.size() : end + 2;
  }
  if (rest.starts_with("R\"") && (at == 0 || !is_word(s[at - 1]))) {
    const size_t open = s.find('(', at);
    if (open == std::string_view::npos || open - at > 18) return at;
    const std::string close = ")" + std::string(s.substr(at + 2, open - at - 2)) + "\"";
    const size_t end = s.find(close, open);
    return end == std::string_view::npos ? s.size() : end + close.size();
  }
  const char quote = s[at];
  if (quote != '"' && quote != '\'') return at;
  if (quote == '\'' && at > 0 && is_word(s[at - 1])) return at;  // 1'000
  for (size_t i = at + 1; i < s.size() && s[i] != '\n'; ++i) {
    if (s[i] == '\\')
      ++i;
    else if (s[i] == quote)
      return i + 1;
  }
  return at;
}

struct Braces {
  size_t first, last;  // where they stand
  int position;        // of the argument in the configuration
};

// The argument lists in braces of the configuration that `at` is the first byte of. Leaves `at` behind it, or
// where it was when this is none.
std::vector<Braces> of_configuration(std::string_view s, size_t& at) {
  std::vector<Braces> found;
  std::vector<size_t> open;
  int position = 0;
  bool starts_argument = true;
  for (size_t i = at; i < s.size();) {
    if (const size_t end = skip(s, i); end != i) {
      i = end;
      continue;
    }
    const char c = s[i];
    if (open.empty() && s.substr(i).starts_with(">>>")) {
      at = i + 3;
      return found;
    }
    if (c == ';') return {};
    if (c == '{' || c == '(' || c == '[') {
      if (open.empty() && starts_argument && c == '{') found.push_back({i, 0, position});
      open.push_back(i);
    } else if (c == '}' || c == ')' || c == ']') {
      if (open.empty()) return {};
      if (!found.empty() && found.back().first == open.back()) found.back().last = i;
      open.pop_back();
    }
    if (open.empty() && c == ',') {
      ++position;
      starts_argument = true;
    } else if (!std::isspace(static_cast<unsigned char>(c))) {
      starts_argument = false;
    }
    ++i;
  }
  return {};
}

void rewrite(std::string& text, const Braces& braces) {
  const std::string_view inside(text.data() + braces.first + 1, braces.last - braces.first - 1);
  if (is_blank(inside)) {
    text[braces.first] = ' ';
    text[braces.last] = braces.position < 2 ? '1' : '0';
    return;
  }
  text[braces.first] = '(';
  text[braces.last] = ')';
  for (size_t i = braces.last - 1; i > braces.first; --i) {
    if (text[i] == ',') text[i] = ' ';  // {x, y, }
    if (!std::isspace(static_cast<unsigned char>(text[i]))) break;
  }
}

}  // namespace

std::optional<std::string> without_launch_braces(std::string_view source) {
  std::optional<std::string> changed;
  for (size_t i = 0; i < source.size();) {
    if (const size_t end = skip(source, i); end != i) {
      i = end;
    } else if (source.substr(i).starts_with("<<<")) {
      i += 3;
      for (const Braces& braces : of_configuration(source, i)) {
        if (!changed) changed = std::string(source);
        rewrite(*changed, braces);
      }
    } else {
      ++i;
    }
  }
  return changed;
}

}  // namespace capgate::lint
