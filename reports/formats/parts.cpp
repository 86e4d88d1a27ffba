#include "reports/formats/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "reports/terminal/parts.h"
#include "reports/terminal/terminal.h"
#include "reports/terminal/text.h"
#include "reports/verdict/causes.h"

namespace capgate::reports::formats {

std::vector<OpenFault> all_faults(const Report& report) {
  const Causes causes(report);
  std::vector<OpenFault> all;
  all.reserve(report.violations.size());
  for (const auto& violation : report.violations) all.push_back({&violation, causes.cause_of(violation)});
  const auto rank = [&](const OpenFault& one) {
    return std::pair(report.knows(one.cause ? *one.cause : *one.fault), one.cause != nullptr);
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](const OpenFault& a, const OpenFault& b) { return rank(a) < rank(b); });
  return all;
}

std::vector<OpenFault> open_faults(const Report& report) {
  std::vector<OpenFault> open = all_faults(report);
  std::erase_if(open, [](const OpenFault& one) { return one.fault->suppressed.has_value(); });
  return open;
}

std::string message_of(const OpenFault& open) {
  const std::string message = cut(open.fault->message);
  if (!open.cause) return message;
  return fmt::format("{} (a symptom of {} at {})", message, cut(open.cause->rule, terminal::kNameColumns),
                     place_of(open.cause->location));
}

std::string counted_errors(const std::vector<OpenFault>& faults) {
  size_t errors = 0, symptoms = 0;
  for (const OpenFault& one : faults)
    if (one.fault->severity == Severity::error) ++(one.cause ? symptoms : errors);
  if (errors == 0) return counted(symptoms, "symptom");
  return counted(errors, "error") + (symptoms ? " with " + counted(symptoms, "symptom") : "");
}

std::string cut(std::string_view text, size_t most) {
  return terminal::head_of(text, most);
}

std::string path_of(const std::string& file) {
  std::string_view path = file;
  while (path.starts_with("./")) path.remove_prefix(2);
  return std::string(path);
}

std::string place_of(const Location& location) {
  if (location.file.empty()) return cut(location.function, terminal::kNameColumns);
  const std::string path = path_of(location.file);
  return location.line > 0 ? fmt::format("{}:{}", path, location.line) : path;
}

std::string verdict_line(const Report& report) {
  const std::string head = render_headline(report, {});
  return head.substr(0, head.find('\n'));
}

std::string compared_line(const Report& report) {
  std::string line = terminal::compared_text(report);
  if (!line.empty()) line.front() = 'A';
  return line;
}

std::string counted(size_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

}  // namespace capgate::reports::formats
