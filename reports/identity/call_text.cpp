#include "reports/identity/call_text.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

#include "reports/identity/fingerprint.h"
#include "reports/identity/source_path.h"

namespace capgate::reports {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

// A line without its comment. Quotes are followed, so that "//" in a text begins none.
std::string without_comment(std::string_view line, bool python) {
  std::string out;
  char quote = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote) {
      out += c;
      if (c == '\\' && i + 1 < line.size()) out += line[++i];
      if (c == quote) quote = 0;
      continue;
    }
    const std::string_view two = line.substr(i, 2);
    if (python ? c == '#' : two == "//") break;
    if (!python && two == "/*") {
      const size_t end = line.find("*/", i + 2);
      if (end == std::string_view::npos) break;
      i = end + 1;
      continue;
    }
    if (c == '"' || c == '\'') quote = c;
    out += c;
  }
  return out;
}

// Behind the template arguments that begin at `at`, or `at` where nothing closes them before a parenthesis.
size_t behind_template_arguments(std::string_view text, size_t at) {
  int depth = 0;
  for (size_t i = at; i < text.size(); ++i) {
    if (text[i] == '<') ++depth;
    if (text[i] == '>' && --depth == 0) return i + 1;
  }
  return at;
}

// Where the parenthesis of a call of `callee` opens, and where the callee's name begins.
struct Call {
  size_t name, open;
};

std::optional<Call> find_call(std::string_view text, std::string_view callee) {
  if (callee.empty()) return std::nullopt;
  for (size_t at = text.find(callee); at != std::string_view::npos; at = text.find(callee, at + 1)) {
    if (at > 0 && is_word(text[at - 1])) continue;
    const auto skip_blanks = [&](size_t i) {
      return std::min(text.find_first_not_of(" \t", i), text.size());
    };
    size_t end = skip_blanks(at + callee.size());
    if (end < text.size() && text[end] == '<') end = skip_blanks(behind_template_arguments(text, end));
    if (end < text.size() && text[end] == '(') return Call{at, end};
  }
  return std::nullopt;
}

// The kernel that a line launches, without its template arguments; empty where it launches none. How large a
// launch is and what it is given changes more often than what is launched.
std::string launched_kernel(std::string_view text) {
  const size_t open = text.find("<<<");
  if (open == std::string_view::npos) return {};
  size_t end = text.find_last_not_of(" \t", open == 0 ? 0 : open - 1) + 1;
  if (open == 0 || end == 0) return {};
  if (text[end - 1] == '>') {
    int depth = 0;
    while (end > 0) {
      if (text[end - 1] == '>') ++depth;
      if (text[--end] == '<' && --depth == 0) break;
    }
  }
  size_t begin = end;
  while (begin > 0 && (is_word(text[begin - 1]) || text[begin - 1] == ':')) --begin;
  return std::string(text.substr(begin, end - begin));
}

std::string without_blanks(std::string text) {
  std::erase_if(text, [](unsigned char c) { return std::isspace(c); });
  return text;
}

}  // namespace

std::string call_text(const Violation& violation) {
  const auto& lines = violation.source;
  auto line = std::find_if(lines.begin(), lines.end(),
                           [&](const SourceLine& one) { return one.line == violation.location.line; });
  if (line == lines.end()) return {};
  const bool python = is_python_source(violation.location.file);
  std::string text = without_comment(line->text, python);
  const std::string callee = callee_key(violation);
  const auto call = find_call(text, callee);
  if (!call) {
    if (auto kernel = python ? std::string() : launched_kernel(text); !kernel.empty()) return kernel;
    return without_blanks(std::move(text));
  }
  int depth = 0;
  for (size_t i = call->open;; ++i) {
    while (i >= text.size()) {  // the call goes on in the next line
      if (++line == lines.end()) return callee + without_blanks(text.substr(call->open));
      text += without_comment(line->text, python);
    }
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0)
      return callee + without_blanks(text.substr(call->open, i + 1 - call->open));
  }
}

}  // namespace capgate::reports
