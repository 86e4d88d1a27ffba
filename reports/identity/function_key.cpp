#include "reports/identity/function_key.h"

#include <array>
#include <cctype>

namespace capgate::reports {
namespace {

bool starts(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}
bool word_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

// The text in brackets from text[0] on, both brackets included; the whole rest where the closing one is
// missing.
std::string_view bracketed(std::string_view text, char open, char close) {
  size_t depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == open) ++depth;
    if (text[i] == close && --depth == 0) return text.substr(0, i + 1);
  }
  return text;
}

// `operator` with its symbol, which may hold the very characters that open template arguments or parameters.
std::string_view operator_name(std::string_view text) {
  static constexpr std::array<std::string_view, 14> kSymbols{
      "operator<=>", "operator<<=", "operator>>=", "operator->*", "operator<<", "operator>>", "operator<=",
      "operator>=",  "operator->",  "operator()",  "operator[]",  "operator<",  "operator>",  "operator,"};
  for (const auto symbol : kSymbols)
    if (starts(text, symbol)) return symbol;
  return "operator";
}

bool is_lambda(std::string_view text) {
  return starts(text, "{lambda") || starts(text, "(lambda") || starts(text, "(anonymous class)") ||
         starts(text, "'lambda");
}

}  // namespace

std::string function_key(std::string_view function) {
  static constexpr std::array<std::string_view, 7> kPython{
      "<lambda>", "<module>", "<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>", "<locals>"};
  std::string key;
  const auto at_word_start = [&] { return key.empty() || !word_char(key.back()); };
  for (size_t i = 0; i < function.size();) {
    const std::string_view rest = function.substr(i);
    const auto skip = [&](std::string_view part) { i += std::max<size_t>(part.size(), 1); };

    bool python = false;
    for (const auto name : kPython)
      if (starts(rest, name)) {
        key += name;
        skip(name);
        python = true;
        break;
      }
    if (python) continue;
    if (starts(rest, "operator") && at_word_start() && (rest.size() == 8 || !word_char(rest[8]))) {
      const auto name = operator_name(rest);
      key += name;
      skip(name);
    } else if (is_lambda(rest)) {
      key += "lambda";
      if (rest[0] == '\'') {  // 'lambda1'(int)
        const size_t end = rest.find('\'', 1);
        skip(rest.substr(0, end == std::string_view::npos ? end : end + 1));
      } else {
        skip(rest[0] == '{' ? bracketed(rest, '{', '}') : bracketed(rest, '(', ')'));
      }
    } else if (starts(rest, "$_")) {  // clang's name of a lambda's class
      key += "lambda";
      size_t end = 2;
      while (end < rest.size() && std::isdigit(static_cast<unsigned char>(rest[end]))) ++end;
      i += end;
    } else if (starts(rest, "(anonymous namespace)")) {
      key += "(anonymous namespace)";
      i += 21;
    } else if (rest[0] == '<') {
      skip(bracketed(rest, '<', '>'));
    } else if (rest[0] == '(') {
      skip(bracketed(rest, '(', ')'));
    } else if (rest[0] == '[') {  // [abi:cxx11], [clone .cold]
      skip(bracketed(rest, '[', ']'));
    } else if (rest[0] == ' ') {
      // What stands before a space is a return type, unless what follows only qualifies the function.
      if (starts(rest, " const") || starts(rest, " &") || starts(rest, " [") || starts(rest, " volatile") ||
          starts(rest, " noexcept") || starts(rest, " requires"))
        break;
      const bool before_arguments = starts(rest, " <");  // operator< <int>
      if (i + 1 < function.size() && !before_arguments && !key.ends_with("operator")) key.clear();
      ++i;
    } else if (rest[0] == '.' &&
               (starts(rest, ".isra") || starts(rest, ".part") || starts(rest, ".constprop") ||
                starts(rest, ".cold") || starts(rest, ".lto_priv"))) {
      break;
    } else {
      key += rest[0];
      ++i;
    }
  }
  constexpr std::string_view kCall = "lambda::operator()";
  if (key.ends_with(kCall)) key.resize(key.size() - kCall.size() + 6);
  return key;
}

}  // namespace capgate::reports
