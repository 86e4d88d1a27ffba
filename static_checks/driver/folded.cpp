#include "static_checks/driver/folded.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

namespace capgate::lint {
namespace {

using reports::Violation;

// The places that details["also"] lists, each with its rule.
size_t listed(const std::string& also) {
  return also.empty() ? 0 : 1 + static_cast<size_t>(std::count(also.begin(), also.end(), ','));
}

void append(std::string& list, const std::string& more) {
  if (!more.empty()) list += (list.empty() ? "" : ", ") + more;
}

// Keeps the first violation of each cause, and with it the places of the others. `cause_of`: empty for a
// violation that is kept as it is. `more`: what the others have in common, in words.
template <class CauseOf, class More>
void fold(reports::Report& report, const CauseOf& cause_of, const More& more) {
  std::set<std::string> named;  // symptoms name their causes
  for (const Violation& v : report.violations)
    if (v.symptom_of) named.insert(*v.symptom_of);
  std::map<std::string, std::vector<size_t>> groups;
  for (size_t i = 0; i < report.violations.size(); ++i) {
    const Violation& v = report.violations[i];
    if (v.suppressed || v.symptom_of || named.contains(v.id)) continue;
    if (const std::string cause = cause_of(v); !cause.empty()) groups[cause].push_back(i);
  }
  std::vector<bool> folded(report.violations.size());
  for (const auto& [cause, group] : groups) {
    if (group.size() < 2) continue;
    Violation& first = report.violations[group.front()];
    std::string others;
    for (size_t k = 1; k < group.size(); ++k) {
      const Violation& v = report.violations[group[k]];
      folded[group[k]] = true;
      append(others, v.rule + " " + v.location.file + ":" + std::to_string(v.location.line));
      if (const auto also = v.details.find("also"); also != v.details.end()) append(others, also->second);
    }
    first.message += "; " + std::to_string(listed(others)) + " more " + more(first);
    append(first.details["also"], others);
  }
  std::vector<Violation> kept;
  for (size_t i = 0; i < report.violations.size(); ++i)
    if (!folded[i]) kept.push_back(std::move(report.violations[i]));
  report.violations = std::move(kept);
}

bool is_of_a_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::string name_at(const std::string& text, size_t at) {
  size_t end = at;
  while (end < text.size() && is_of_a_name(text[end])) ++end;
  return text.substr(at, end - at);
}

// From `column` of `line` to the parenthesis that closes what opens behind the name there.
std::string use_of_macro(const std::vector<std::string>& lines, int line, int column) {
  constexpr int kMaxLines = 40;
  std::string text;
  int depth = 0;
  for (int i = line; i < line + kMaxLines && i <= static_cast<int>(lines.size()); ++i) {
    const std::string& all = lines[static_cast<size_t>(i) - 1];
    for (size_t at = i == line ? static_cast<size_t>(column) - 1 : 0; at < all.size(); ++at) {
      text += all[at];
      if (all[at] == '(') ++depth;
      if (all[at] == ')' && --depth <= 0) return text;
      if (all[at] == ';' && depth == 0) return text;
    }
    text += ' ';
  }
  return text;
}

// `name` is called or launched there, and not only handed over.
bool calls(const std::string& text, const std::string& name) {
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    if (at > 0 && is_of_a_name(text[at - 1])) continue;
    size_t after = at + name.size();
    if (after < text.size() && is_of_a_name(text[after])) continue;
    while (after < text.size() && text[after] == ' ') ++after;
    if (after < text.size() && (text[after] == '(' || text[after] == '<')) return true;
  }
  return false;
}

}  // namespace

void fold_by_test(reports::Report& report) {
  fold(
      report,
      [](const Violation& v) -> std::string {
        const auto test = v.details.find("only_if");
        if (test == v.details.end() || v.severity != reports::Severity::warning) return "";
        std::string where;
        for (const auto& step : v.flow)
          if (step.message.starts_with("only if "))
            where += step.file + ":" + std::to_string(step.line) + " ";
        return where + test->second;
      },
      [](const Violation&) { return "behind the same test"; });
}

void fold_by_macro(reports::Report& report) {
  fold(
      report,
      [](const Violation& v) -> std::string {
        const auto macro = v.details.find("macro");
        // A run checks each place that an assumption rules out.
        if (macro == v.details.end() || v.details.contains("assumed")) return "";
        const auto test = v.details.find("only_if");
        return v.rule + ' ' + std::to_string(static_cast<int>(v.severity)) + ' ' + macro->second + ' ' +
               (test == v.details.end() ? "" : test->second);
      },
      [](const Violation& v) { return "where " + v.details.at("macro") + " is used"; });
}

std::string Macros::around(const Finding& finding) {
  const Place& at = finding.place;
  if (finding.callee.empty() || at.line <= 0 || at.column <= 0) return "";
  const std::vector<std::string>& lines = lines_(at.file);
  if (at.line > static_cast<int>(lines.size())) return "";
  const std::string& line = lines[static_cast<size_t>(at.line) - 1];
  const auto column = static_cast<size_t>(at.column) - 1;
  if (column >= line.size()) return "";
  const std::string name = name_at(line, column);
  const std::string callee = finding.callee.substr(finding.callee.rfind(':') + 1);
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0 || name == callee) return "";
  if (!is_defined(name) || calls(use_of_macro(lines, at.line, at.column), callee)) return "";
  return name;
}

bool Macros::is_defined(const std::string& name) {
  if (!known_) {
    known_ = true;
    for (const std::string& file : files_)
      for (const std::string& line : lines_(file)) {
        size_t at = line.find_first_not_of(" \t");
        if (at == std::string::npos || line[at] != '#') continue;
        at = line.find_first_not_of(" \t", at + 1);
        constexpr std::string_view kDefine = "define";
        if (at == std::string::npos || line.compare(at, kDefine.size(), kDefine) != 0) continue;
        at = line.find_first_not_of(" \t", at + kDefine.size());
        if (at != std::string::npos) defined_.insert(name_at(line, at));
      }
  }
  return defined_.contains(name);
}

}  // namespace capgate::lint
