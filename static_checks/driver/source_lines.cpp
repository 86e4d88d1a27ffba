#include "static_checks/driver/source_lines.h"

#include <algorithm>
#include <utility>

#include "base/files/read_text.h"

namespace capgate::lint {

const std::vector<std::string>& SourceLines::of(const std::string& path) {
  const auto [it, fresh] = files_.try_emplace(path);
  if (!fresh) return it->second;
  if (const Result<std::string> text = read_file(path)) {
    std::string line;
    for (const char c : *text) {
      if (c == '\n')
        it->second.push_back(std::exchange(line, ""));
      else if (c != '\r')
        line += c;
    }
    if (!line.empty()) it->second.push_back(std::move(line));
  }
  return it->second;
}

std::vector<reports::SourceLine> SourceLines::around(const Place& place) {
  constexpr int kContext = 2;
  const std::vector<std::string>& lines = of(place.file);
  std::vector<reports::SourceLine> shown_lines;
  const int last = std::min(place.line + kContext, static_cast<int>(lines.size()));
  for (int line = std::max(1, place.line - kContext); line <= last; ++line)
    shown_lines.push_back({line, lines[static_cast<size_t>(line) - 1]});
  return shown_lines;
}

}  // namespace capgate::lint
