#include "cli/doctor/self_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/exit_code.h"
#include "cli/audit/trace_folder.h"
#include "cli/doctor/asked_program.h"
#include "reports/files/report_file.h"

namespace capgate::cli {
namespace fs = std::filesystem;
namespace {

constexpr const char* kName = "self-test";
constexpr unsigned kAuditSeconds = 120;

Check failed(const std::string& text, const std::string& self, const char* which) {
  return {kName, CheckState::missing, text,
          fmt::format("{} audit --trace trace -- {} doctor --plant {}", self, self, which)};
}

// The report of the audit of one of the two, or why there is none.
Result<reports::Report> audited(const std::string& self, const char* which, const std::string& folder) {
  const std::string out = folder + "/" + which + ".json";
  const auto done = ask_program(Question{
      {self, "audit", "--out", out, "--", self, "doctor", "--plant", which}, kAuditSeconds, folder, true});
  if (!done) return Error{fmt::format("the audit did not end within {} s", kAuditSeconds)};
  auto report = reports::read_report_alone(out);
  if (!report) {
    const std::string said = done->out.substr(0, done->out.find('\n'));
    return Error{said.empty() ? report.error() : said};
  }
  return std::move(*report);
}

std::string why(const reports::Report& report) {
  return report.reasons.empty() ? "its report names no fault" : report.reasons.front().text;
}

}  // namespace

Check self_test() {
  std::error_code error;
  const std::string self = fs::read_symlink("/proc/self/exe", error).string();
  const auto folder = TraceFolder::temporary();
  if (error || !folder)
    return {kName, CheckState::missing, error ? error.message() : folder.error(),
            "export TMPDIR=FOLDER, where FOLDER can be written"};

  const auto fault = audited(self, "fault", folder->path());
  if (!fault) return failed("the audit of a planted fault failed: " + fault.error(), self, "fault");
  const auto& found = fault->violations;
  const bool caught =
      fault->verdict == reports::Verdict::fail &&
      std::any_of(found.begin(), found.end(), [](const reports::Violation& violation) {
        return violation.rule == "host-sync" && violation.severity == reports::Severity::error;
      });
  if (!caught) return failed("a wait planted in a capture was not found: " + why(*fault), self, "fault");

  const auto clean = audited(self, "clean", folder->path());
  if (!clean) return failed("the audit of a capture without a fault failed: " + clean.error(), self, "clean");
  if (clean->verdict != reports::Verdict::pass) {
    const std::string reason =
        clean->violations.empty() ? why(*clean) : "it has " + clean->violations.front().rule;
    return failed("a capture without a fault did not pass: " + reason, self, "clean");
  }
  return {
      kName, CheckState::there,
      fmt::format("a wait planted in a capture was found, and the same capture without it passed; CUPTI {}",
                  fault->environment.cupti.path),
      ""};
}

Check self_test_left_out() {
  return {kName, CheckState::optional, "no fault was planted: there is no GPU to capture on", ""};
}

}  // namespace capgate::cli
