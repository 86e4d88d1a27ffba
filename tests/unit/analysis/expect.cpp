#include "tests/unit/analysis/expect.h"

#include <algorithm>

namespace capgate::test {

std::vector<std::string> faults(const reports::Report& report) {
  std::vector<std::string> out;
  for (const auto& v : report.violations) {
    std::string severity = "note ";
    if (v.severity == reports::Severity::error) severity = "error ";
    if (v.severity == reports::Severity::warning) severity = "warning ";
    out.push_back(severity + v.rule + " " + v.location.file + ":" + std::to_string(v.location.line) + " " +
                  v.location.function + (v.suppressed ? " (suppressed)" : ""));
  }
  std::sort(out.begin(), out.end());
  return out;
}

reports::Violation only(const reports::Report& report, const std::string& rule) {
  std::vector<reports::Violation> found;
  for (const auto& v : report.violations)
    if (v.rule == rule) found.push_back(v);
  EXPECT_EQ(found.size(), 1u) << text(report);
  return found.size() == 1 ? found.front() : reports::Violation{};
}

std::string text(const reports::Report& report) {
  std::string out;
  for (const auto& fault : faults(report)) out += fault + "\n";
  for (const auto& v : report.violations) out += "  " + v.rule + ": " + v.message + "\n";
  for (const auto& reason : report.reasons) out += "reason: " + reason.text + " -> " + reason.remedy + "\n";
  return out;
}

}  // namespace capgate::test
