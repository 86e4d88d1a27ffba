#include "reports/formats/parts.h"

#include <fmt/format.h>

#include "reports/terminal/terminal.h"

namespace capgate::reports::formats {

std::vector<const Violation*> open_faults(const Report& report) {
  std::vector<const Violation*> open;
  for (const auto& violation : report.violations)
    if (!violation.suppressed) open.push_back(&violation);
  return open;
}

std::string path_of(const std::string& file) {
  std::string_view path = file;
  while (path.starts_with("./")) path.remove_prefix(2);
  return std::string(path);
}

std::string place_of(const Location& location) {
  if (location.file.empty()) return location.function;
  const std::string path = path_of(location.file);
  return location.line > 0 ? fmt::format("{}:{}", path, location.line) : path;
}

std::string verdict_line(const Report& report) {
  const std::string head = render_headline(report, {});
  return head.substr(0, head.find('\n'));
}

std::string counted(size_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

}  // namespace capgate::reports::formats
