#include <fmt/format.h>

#include <filesystem>

#include "base/files/read_text.h"
#include "base/trimmed.h"
#include "reports/catalogue/catalogue.h"
#include "reports/suppressions/suppressions.h"
#include "reports/suppressions/unproven.h"

namespace capgate::reports {
namespace {

// Calls visit(line, number) for each line.
template <class Visit>
void each_line(std::string_view text, Visit visit) {
  for (int number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    visit(text.substr(0, end), number);
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

// One sentence, or empty.
std::string parse_line(std::string_view line, FileSuppression& out) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return "expected `rule:frame-glob  reason`";
  const std::string_view rule = trimmed(line.substr(0, colon));
  const std::string_view rest = trimmed(line.substr(colon + 1));
  const size_t gap = rest.find_first_of(kBlanks);
  if (rule != "*" && rule != kUnproven && !find_rule(rule)) return unknown_rule(rule);
  if (rest.empty()) return "the frame glob is missing; `*` matches any frame";
  if (gap == std::string_view::npos) return "the reason is missing: `rule:frame-glob  reason`";
  out.rule = rule;
  out.glob = rest.substr(0, gap);
  out.reason = trimmed(rest.substr(gap));
  return "";
}

bool in_comment(std::string_view before) {
  return before.find("//") != std::string_view::npos || before.find("/*") != std::string_view::npos ||
         before.find('#') != std::string_view::npos || trimmed(before).starts_with('*');
}

}  // namespace

Result<std::vector<FileSuppression>> parse_suppressions(std::string_view text, std::string_view source_name) {
  std::vector<FileSuppression> entries;
  std::string error;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  each_line(text, [&](std::string_view raw, int number) {
    const std::string_view line = trimmed(raw);
    if (line.empty() || line.front() == '#' || !error.empty()) return;
    FileSuppression entry;
    const std::string wrong = parse_line(line, entry);
    if (!wrong.empty()) {
      error = fmt::format("{}:{}: {}", source_name, number, wrong);
      return;
    }
    entry.origin = fmt::format("{}:{}", source_name, number);
    entries.push_back(std::move(entry));
  });
  if (!error.empty()) return Error{error};
  return entries;
}

Result<std::vector<FileSuppression>> read_suppressions(const std::string& path) {
  auto text = read_settings_text(path);
  if (!text) return Error{text.error()};
  // Reports are compared across machines: they name the file, not where it lies.
  return parse_suppressions(*text, std::filesystem::path(path).filename().string());
}

std::vector<AllowComment> find_allow_comments(std::string_view text, std::string_view file) {
  constexpr std::string_view kMark = "capgate-allow(";
  std::vector<AllowComment> found;
  each_line(text, [&](std::string_view line, int number) {
    for (size_t at = line.find(kMark); at != std::string_view::npos; at = line.find(kMark, at + 1)) {
      if (!in_comment(line.substr(0, at))) continue;
      const std::string_view rest = line.substr(at + kMark.size());
      const size_t close = rest.find(')');
      if (close == std::string_view::npos) continue;
      AllowComment comment{std::string(file), number, std::string(trimmed(rest.substr(0, close))), ""};
      std::string_view reason = rest.substr(close + 1);
      reason = reason.substr(0, reason.find(kMark));  // a second allow on the same line
      if (reason.starts_with(':')) {
        reason = trimmed(reason.substr(1));
        while (reason.ends_with("*/") || reason.ends_with("//"))
          reason = trimmed(reason.substr(0, reason.size() - 2));
        comment.reason = reason;
      }
      found.push_back(std::move(comment));
    }
  });
  return found;
}

}  // namespace capgate::reports
