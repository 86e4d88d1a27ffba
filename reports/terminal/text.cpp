#include "reports/terminal/text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/printable.h"

namespace capgate::reports::terminal {

std::string clean(std::string_view text) {
  return printable(text);
}

namespace {

bool starts_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
}

}  // namespace

size_t columns(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

std::string head_of(std::string_view text, size_t most) {
  if (columns(text) <= most) return std::string(text);
  size_t end = 0;
  for (size_t taken = 0; taken < most; ++end)
    if (end + 1 == text.size() || starts_character(text[end + 1])) ++taken;
  // The last character makes room for the mark.
  while (end > 0)
    if (starts_character(text[--end])) break;
  return std::string(text.substr(0, end)) + "…";
}

std::string tail_of(std::string_view text, size_t most) {
  if (columns(text) <= most) return std::string(text);
  size_t begin = text.size();
  for (size_t taken = 0; taken + 1 < most;)
    if (starts_character(text[--begin])) ++taken;
  return "…" + std::string(text.substr(begin));
}

std::string sentence(std::string_view text) {
  return head_of(clean(text), kSentenceColumns);
}

std::string without_commands(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool begins = true;  // nothing but blanks since the last end of a line
  for (size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    const std::string_view here = text.substr(i);
    if (here.starts_with("##[") || (begins && here.starts_with("::"))) out += ' ';
    begins = text[i] == '\n' || (begins && (text[i] == ' ' || text[i] == '\t'));
  }
  return out;
}

std::string wrap(std::string_view text, size_t indent, int width, bool hanging) {
  const size_t room = static_cast<size_t>(std::max(width, static_cast<int>(indent) + 20)) - indent;
  std::string out;
  bool first_line = true;
  while (true) {
    std::string_view paragraph = text.substr(0, text.find('\n'));
    size_t used = 0;
    const auto begin_line = [&] {
      if (!first_line || !hanging) out.append(indent, ' ');
      first_line = false;
      used = 0;
    };
    bool any = false;
    while (!paragraph.empty()) {
      const size_t start = paragraph.find_first_not_of(' ');
      if (start == std::string_view::npos) break;
      paragraph.remove_prefix(start);
      const std::string_view word = paragraph.substr(0, paragraph.find(' '));
      paragraph.remove_prefix(word.size());
      const std::string shown = clean(word);
      const size_t size = columns(shown);
      if (!any) {
        begin_line();
      } else if (used + 1 + size > room) {
        out += '\n';
        begin_line();
      } else {
        out += ' ';
        ++used;
      }
      any = true;
      out += shown;
      used += size;
    }
    out += '\n';
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

std::string duration(double microseconds) {
  if (microseconds < 1e3) return fmt::format("{:.0f} us", microseconds);
  if (microseconds < 1e6) return fmt::format("{:.1f} ms", microseconds / 1e3);
  return fmt::format("{:.1f} s", microseconds / 1e6);
}

std::string bytes(uint64_t count) {
  if (count < 1024) return fmt::format("{} B", count);
  auto value = static_cast<double>(count);
  for (const char* unit : {"KiB", "MiB", "GiB"}) {
    value /= 1024;
    if (value < 1024) return fmt::format("{:.1f} {}", value, unit);
  }
  return fmt::format("{:.1f} TiB", value / 1024);
}

}  // namespace capgate::reports::terminal
