#include <fmt/format.h>

#include <algorithm>

#include "base/printable.h"
#include "reports/formats/formats.h"
#include "reports/formats/parts.h"
#include "reports/model/names.h"

namespace capgate::reports {
namespace {

// A comment is to be read; the report has the rest.
constexpr size_t kListed = 20;

// Text in which nothing is markup, a link or a mention.
std::string plain(std::string_view text) {
  std::string out;
  for (const char character : printable(text)) {
    if (character == '<')
      out += "&lt;";
    else if (character == '&')
      out += "&amp;";
    else {
      if (std::string_view("\\`*_{}[]()>#+-!|~@").find(character) != std::string_view::npos) out += '\\';
      out += character;
    }
  }
  return out;
}

// As many backticks as no run inside has.
std::string fence(std::string_view text, size_t least) {
  size_t longest = 0, run = 0;
  for (const char character : text) {
    run = character == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return std::string(std::max(least, longest + 1), '`');
}

// In a table: a '|' would end the cell even inside code.
std::string code(std::string_view text, bool in_table = false) {
  std::string shown = printable(text);
  if (shown.empty()) return "";
  if (in_table)
    for (size_t at = shown.find('|'); at != std::string::npos; at = shown.find('|', at + 2))
      shown.insert(at, "\\");
  const std::string ticks = fence(shown, 1);
  return ticks.size() > 1 ? ticks + " " + shown + " " + ticks : ticks + shown + ticks;
}

std::string source(const Violation& fault) {
  std::string lines;
  for (const auto& line : fault.source)
    lines += fmt::format("{} {} | {}\n", line.line == fault.location.line ? ">" : " ", line.line,
                         printable(formats::cut(line.text)));
  if (lines.empty()) return "";
  const std::string ticks = fence(lines, 3);
  return ticks + "\n" + lines + ticks + "\n\n";
}

std::string first(const formats::OpenFault& open, bool known) {
  const Violation& fault = *open.fault;
  std::string out = fmt::format("**{}**{} at {}: {}\n\n", plain(fault.rule), known ? " (known)" : "",
                                code(formats::place_of(fault.location)), plain(formats::message_of(open)));
  out += source(fault);
  if (!fault.hint.empty()) out += "**Fix:** " + plain(formats::cut(fault.hint)) + "\n\n";
  return out;
}

std::string table(const Report& report, const std::vector<formats::OpenFault>& faults) {
  std::string out = "| | rule | place | finding |\n| --- | --- | --- | --- |\n";
  for (size_t i = 0; i < faults.size() && i < kListed; ++i) {
    const Violation& fault = *faults[i].fault;
    out += fmt::format("| {}{} | {} | {} | {} |\n", name(fault.severity),
                       !report.compared      ? ""
                       : report.knows(fault) ? ", known"
                                             : ", new",
                       code(fault.rule, true), code(formats::place_of(fault.location), true),
                       plain(formats::message_of(faults[i])));
  }
  if (faults.size() > kListed) out += fmt::format("\n{} more in the report\n", faults.size() - kListed);
  return out + "\n";
}

}  // namespace

std::string to_markdown(const Report& report) {
  std::string out = "### capgate: " + plain(formats::verdict_line(report)) + "\n\n";
  if (const std::string compared = formats::compared_line(report); !compared.empty())
    out += plain(compared) + "\n\n";
  const auto faults = formats::open_faults(report);
  if (!faults.empty() && faults.front().fault->severity != Severity::note)
    out += first(faults.front(), report.knows(*faults.front().fault));
  if (faults.size() > 1) out += table(report, faults);
  for (const auto& reason : report.reasons) {
    out += "Not proved, because " + plain(formats::cut(reason.text)) + "\n";
    if (!reason.remedy.empty()) out += "\nTo do: " + code(reason.remedy) + "\n";
    out += "\n";
  }
  return out;
}

}  // namespace capgate::reports
