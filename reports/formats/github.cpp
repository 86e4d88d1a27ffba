#include <fmt/format.h>

#include "base/printable.h"
#include "reports/formats/formats.h"
#include "reports/formats/parts.h"

namespace capgate::reports {
namespace {

// GitHub shows ten annotations of each kind per step and drops the others without a word.
constexpr size_t kShown = 10;

// What would end a command or a property of it.
std::string escaped(std::string_view text, bool property) {
  std::string out;
  for (const char character : printable(text)) {
    if (character == '%')
      out += "%25";
    else if (property && character == ':')
      out += "%3A";
    else if (property && character == ',')
      out += "%2C";
    else
      out += character;
  }
  // The runner takes this for a command wherever it is in a line.
  for (size_t at = out.find("##["); at != std::string::npos; at = out.find("##[", at))
    out.insert(at + 1, " ");
  return out;
}

// A fault that the baseline knows fails nothing, and a symptom goes away with its cause.
std::string_view command(Severity severity, bool aside) {
  if (aside) return "notice";
  if (severity == Severity::error) return "error";
  return severity == Severity::warning ? "warning" : "notice";
}

std::string annotation(const formats::OpenFault& open, bool known) {
  const Violation& fault = *open.fault;
  std::string properties;
  const Location& at = fault.location;
  if (!at.file.empty()) {
    properties = "file=" + escaped(formats::path_of(at.file), true);
    if (at.line > 0) properties += fmt::format(",line={}", at.line);
    if (at.line > 0 && at.column.value_or(0) > 0) properties += fmt::format(",col={}", *at.column);
    properties += ",";
  }
  const std::string fix = fault.hint.empty() ? "" : "%0AFix: " + escaped(formats::cut(fault.hint), false);
  return fmt::format("::{} {}title={}::{}{}\n", command(fault.severity, known || open.cause), properties,
                     escaped("capgate " + fault.rule + (known ? " (known)" : ""), true),
                     escaped(formats::message_of(open), false), fix);
}

}  // namespace

std::string to_github(const Report& report) {
  const auto faults = formats::open_faults(report);
  std::string out;
  for (size_t i = 0; i < faults.size() && i < kShown; ++i)
    out += annotation(faults[i], report.knows(*faults[i].fault));
  if (faults.size() > kShown)
    out += fmt::format("{} more in the report\n", formats::counted(faults.size() - kShown, "finding"));
  for (const auto& reason : report.reasons)
    out += fmt::format("::{} title=capgate::{}%0ATo do: {}\n",
                       report.verdict == Verdict::fail ? "notice" : "warning", escaped(reason.text, false),
                       escaped(reason.remedy, false));
  out += escaped(formats::verdict_line(report), false) + "\n";
  const std::string compared = formats::compared_line(report);
  return compared.empty() ? out : out + escaped(compared, false) + "\n";
}

}  // namespace capgate::reports
