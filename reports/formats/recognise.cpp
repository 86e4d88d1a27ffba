#include <algorithm>
#include <array>

#include "reports/catalogue/catalogue.h"
#include "reports/formats/formats.h"

namespace capgate::reports {
namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// "a.cpp:3: error: … [host-sync]"
bool is_gcc_message(std::string_view line) {
  const size_t rule = line.rfind(" [");
  return rule != std::string_view::npos && line.ends_with(']') &&
         find_rule(line.substr(rule + 2, line.size() - rule - 3)) &&
         (has(line, ": error: ") || has(line, ": warning: ") || has(line, ": note: "));
}

// A command of GitHub's runner with our title, or the line about the verdict.
bool is_github_line(std::string_view line) {
  constexpr std::array<std::string_view, 4> kVerdicts{"PASS: ", "PASS (", "FAIL: ", "INCONCLUSIVE: "};
  return (line.starts_with("::") && has(line, "title=capgate")) ||
         std::any_of(kVerdicts.begin(), kVerdicts.end(), [&](auto word) { return line.starts_with(word); });
}

}  // namespace

bool begins_like_export(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  if (text.starts_with('{')) return has(text, "sarif-2.1.0") && has(text, "\"name\": \"capgate\"");
  if (text.starts_with('[')) return line == "[]" || has(text, "\"check_name\"");
  if (text.starts_with("<?xml")) return has(text, "<testsuite name=\"capgate\"");
  return text.starts_with("### capgate: ") || is_gcc_message(line) || is_github_line(line);
}

}  // namespace capgate::reports
