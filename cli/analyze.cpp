// capgate analyze: judges sealed traces again, on any machine.
#include "detector/analysis/analyze.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/exit_code.h"
#include "cli/commands.h"
#include "cli/registered_commands.h"
#include "detector/seal/sealed_file.h"
#include "reports/digest/sha256.h"
#include "reports/files/report_file.h"
#include "reports/json/json.h"
#include "reports/merge/merge.h"
#include "reports/verdict/verdict.h"

namespace capgate::cli {
namespace {

struct AnalyzeOptions {
  std::vector<std::string> traces;
  std::string out = "-";
  std::string fail_on = "error";
};

// One report: of several traces, what `capgate merge` makes of their reports.
Result<reports::Report> judge(const std::vector<std::string>& paths) {
  std::vector<reports::MergeInput> parts;
  for (const auto& path : paths) {
    auto trace = seal::read_sealed(path);
    if (!trace) return Error{trace.error()};
    reports::MergeInput part;
    part.report = analysis::analyze(*trace);
    part.name = path;
    part.digest = sha256_hex(reports::to_json(part.report));
    parts.push_back(std::move(part));
  }
  if (parts.size() == 1) return std::move(parts.front().report);
  return reports::merge(std::move(parts), CAPGATE_VERSION);
}

int run(const AnalyzeOptions& options) {
  if (const auto allowed = reports::check_output(options.out, options.traces); !allowed) {
    complain(allowed.error());
    return kExitInconclusive;
  }
  const auto report = judge(options.traces);
  if (!report) {
    complain(report.error());
    return kExitInconclusive;
  }
  if (const auto written = reports::write_report(*report, options.out); !written) {
    complain(written.error());
    return kExitInconclusive;
  }
  const auto fail_on = options.fail_on == "warning" ? reports::Severity::warning : reports::Severity::error;
  return reports::exit_code(*report, fail_on, false);
}

}  // namespace

void register_analyze(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<AnalyzeOptions>();
  auto* command = app.add_subcommand("analyze", "Judge a sealed trace again: the same report on any machine");
  command->add_option("TRACE", options->traces, "Sealed traces (.cgtrace) that capgate audit left")
      ->required()
      ->type_name("");
  command->add_option("--out", options->out, "Where the report goes; default -, standard output")
      ->type_name("FILE");
  add_fail_on(*command, options->fail_on);
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace capgate::cli
