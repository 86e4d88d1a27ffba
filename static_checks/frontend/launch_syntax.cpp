#include "static_checks/frontend/launch_syntax.h"

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

// The end of `bracket` three times from `at` on, with blanks between them or none; 0: it does not stand
// there.
size_t brackets(std::string_view s, size_t at, char bracket) {
  for (int i = 0; i < 3; ++i) {
    if (i > 0)
      while (at < s.size() && (s[at] == ' ' || s[at] == '\t')) ++at;
    if (at >= s.size() || s[at] != bracket) return 0;
    ++at;
  }
  return at;
}

// Of `operator<< <int>(…)`, which is no launch.
bool is_operators_name(std::string_view s, size_t at) {
  while (at > 0 && std::isspace(static_cast<unsigned char>(s[at - 1]))) --at;
  constexpr std::string_view kOperator = "operator";
  return at >= kOperator.size() && s.substr(at - kOperator.size(), kOperator.size()) == kOperator;
}

struct Braces {
  size_t first, last;  // where they stand
  int position;        // of the argument in the configuration
};

struct Configuration {
  std::vector<Braces> braces;  // argument lists
  size_t close = 0, end = 0;   // where its last brackets stand, and what follows them; 0: this is none
};

// What `at` is the first byte of, behind the first brackets.
Configuration configuration(std::string_view s, size_t at) {
  Configuration found;
  std::vector<size_t> open;
  int position = 0;
  bool starts_argument = true, compares = false;
  while (at < s.size()) {
    if (const size_t end = skip(s, at); end != at) {
      at = end;
      continue;
    }
    const char c = s[at];
    if (open.empty() && c == '>') {
      // `f<g<h<int>> >(…)` is an argument that has opened what it closes.
      const size_t end = brackets(s, at, '>');
      if (end == at + 3 || (end != 0 && !compares)) {
        found.close = at;
        found.end = end;
        return found;
      }
    }
    if (c == ';') return {};
    if (c == '{' || c == '(' || c == '[') {
      if (open.empty() && starts_argument && c == '{') found.braces.push_back({at, 0, position});
      open.push_back(at);
    } else if (c == '}' || c == ')' || c == ']') {
      if (open.empty()) return {};
      if (!found.braces.empty() && found.braces.back().first == open.back()) found.braces.back().last = at;
      open.pop_back();
    }
    if (open.empty()) compares = compares || c == '<';
    if (open.empty() && c == ',') {
      ++position;
      starts_argument = true;
    } else if (!std::isspace(static_cast<unsigned char>(c))) {
      starts_argument = false;
    }
    ++at;
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

void close_up(std::string& text, size_t first, size_t end, char bracket) {
  std::fill(text.begin() + static_cast<long>(first), text.begin() + static_cast<long>(end), ' ');
  std::fill_n(text.begin() + static_cast<long>(first), 3, bracket);
}

}  // namespace

std::optional<std::string> launches_for_clang(std::string_view source) {
  std::optional<std::string> changed;
  for (size_t i = 0; i < source.size();) {
    if (const size_t end = skip(source, i); end != i) {
      i = end;
      continue;
    }
    const size_t inside = brackets(source, i, '<');
    if (inside == 0 || is_operators_name(source, i)) {
      ++i;
      continue;
    }
    const Configuration found = configuration(source, inside);
    const bool apart = inside > i + 3 || found.end > found.close + 3;
    if (found.end != 0 && (apart || !found.braces.empty())) {
      if (!changed) changed = std::string(source);
      for (const Braces& braces : found.braces) rewrite(*changed, braces);
      close_up(*changed, i, inside, '<');
      close_up(*changed, found.close, found.end, '>');
    }
    i = found.end != 0 ? found.end : inside;
  }
  return changed;
}

}  // namespace capgate::lint
