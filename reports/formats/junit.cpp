#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/printable.h"
#include "reports/catalogue/catalogue.h"
#include "reports/formats/formats.h"
#include "reports/formats/parts.h"
#include "reports/model/names.h"

namespace capgate::reports {
namespace {

std::string xml(std::string_view text) {
  std::string out;
  for (const char character : printable(text)) {
    switch (character) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += character;
    }
  }
  return out;
}

bool seen_by(const Rule& rule, std::string_view who) {
  return std::find(rule.seen_by.begin(), rule.seen_by.end(), who) != rule.seen_by.end();
}

// The faults of one rule: errors make the case fail; what is less, or known to the baseline, is its output.
std::string test_case(const Report& report, std::string_view rule, std::string_view suite,
                      const std::vector<formats::OpenFault>& faults) {
  std::string failures, output;
  std::vector<formats::OpenFault> errors;
  for (const auto& open : faults) {
    const Violation* fault = open.fault;
    if (fault->rule != rule) continue;
    const bool known = report.knows(*fault), error = fault->severity == Severity::error && !known;
    if (error) errors.push_back(open);
    const std::string line =
        xml(fmt::format("{}: {}{}: {}", formats::place_of(fault->location), known ? "known " : "",
                        name(fault->severity), formats::message_of(open)));
    const std::string fix = fault->hint.empty() ? "" : "\n    fix: " + xml(formats::cut(fault->hint));
    (error ? failures : output) += line + fix + "\n";
  }
  std::string out = fmt::format("    <testcase classname=\"capgate.{}\" name=\"{}\"", suite, xml(rule));
  if (errors.empty() && output.empty()) return out + "/>\n";
  out += ">\n";
  if (!errors.empty())
    out += fmt::format("      <failure type=\"{}\" message=\"{}: {}\">{}</failure>\n", xml(rule),
                       formats::counted_errors(errors), failures.substr(0, failures.find('\n')), failures);
  if (!output.empty()) out += fmt::format("      <system-out>{}</system-out>\n", output);
  return out + "    </testcase>\n";
}

// Red where the job must not be green: a verdict that proves nothing is an error of the test, not of the
// program.
std::string verdict_case(const Report& report) {
  std::string out = "    <testcase classname=\"capgate\" name=\"verdict\"";
  const std::string line = xml(formats::verdict_line(report));
  std::string compared = xml(formats::compared_line(report));
  if (!compared.empty()) compared += '\n';
  if (report.verdict == Verdict::pass)
    return out + fmt::format(">\n      <system-out>{}{}{}</system-out>\n    </testcase>\n", line,
                             compared.empty() ? "" : "\n", compared);
  std::string reasons = compared;
  for (const auto& reason : report.reasons)
    reasons += xml(reason.text) + "\nto do: " + xml(reason.remedy) + "\n";
  const std::string_view element = report.verdict == Verdict::fail ? "failure" : "error";
  return out + fmt::format(">\n      <{0} type=\"{1}\" message=\"{2}\">{3}</{0}>\n    </testcase>\n", element,
                           name(report.verdict), line, reasons);
}

size_t count(const std::string& text, std::string_view part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

std::string to_junit(const Report& report) {
  const auto faults = formats::open_faults(report);
  const bool linted = report.coverage.files_parsed.has_value();
  const bool ran = !linted || report.coverage.kind != CoverageKind::source;
  std::string cases = verdict_case(report);
  std::vector<std::string_view> known;
  for (const Rule& rule : rules()) {
    known.push_back(rule.id);
    const bool has_fault = std::any_of(faults.begin(), faults.end(),
                                       [&](const auto& one) { return one.fault->rule == rule.id; });
    if (!has_fault && !(ran && seen_by(rule, "runtime")) && !(linted && seen_by(rule, "static"))) continue;
    cases += test_case(report, rule.id, ran ? "run" : "lint", faults);
  }
  // A rule of a newer version.
  for (const auto& [fault, cause] : faults) {
    if (std::find(known.begin(), known.end(), fault->rule) != known.end()) continue;
    known.push_back(fault->rule);
    cases += test_case(report, fault->rule, ran ? "run" : "lint", faults);
  }
  const double seconds = report.run ? report.run->wall_s : 0;
  const std::string counts =
      fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{:.3f}\"", count(cases, "<testcase "),
                  count(cases, "<failure "), count(cases, "<error "), seconds);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0}>\n  <testsuite name=\"capgate\" {0}>\n{1} "
      " </testsuite>\n</testsuites>\n",
      counts, cases);
}

}  // namespace capgate::reports
