// capgate gate: the verdict as an exit code and a few lines.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "base/exit_code.h"
#include "cli/commands.h"
#include "reports/model/baseline.h"
#include "reports/model/names.h"
#include "reports/model/report_file.h"
#include "reports/terminal/gate_lines.h"

namespace capgate::cli {
namespace {

struct GateOptions {
  std::string report, baseline;
  std::string fail_on = "error";
  bool allow_eager = false;
};

Result<int> run(const GateOptions& options) {
  auto read = reports::read_report(options.report);
  if (!read) return Error{read.error()};
  reports::BaselineComparison comparison;
  Result<reports::ReadReport> baseline{reports::ReadReport{}};
  if (!options.baseline.empty()) {
    baseline = reports::read_report(options.baseline);
    if (!baseline) return Error{baseline.error()};
    comparison = reports::compare_with_baseline(read->report, baseline->report);
  }
  reports::TerminalOptions view;
  view.color = use_color(STDOUT_FILENO);
  reports::GateOptions gate;
  gate.fail_on = reports::severity_named(options.fail_on).value_or(reports::Severity::error);
  gate.allow_eager = options.allow_eager;
  gate.report_name = options.report;
  gate.baseline_name = options.baseline;
  const auto decision = reports::decide(read->report, gate, comparison, view);
  std::fputs(decision.text.c_str(), stdout);
  return decision.exit_code;
}

}  // namespace

void register_gate(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<GateOptions>();
  auto* command =
      app.add_subcommand("gate", "Turn a report into an exit code: 0 pass, 1 fail, 2 inconclusive");
  command->add_option("REPORT", options->report, "The report's file; - reads standard input")
      ->required()
      ->type_name("");
  command->add_option("--baseline", options->baseline, "An older report: only what it does not know can fail")
      ->type_name("FILE");
  add_fail_on(*command, options->fail_on);
  command->add_flag("--allow-eager", options->allow_eager,
                    "Pass on a marked step that ran eagerly, although no graph was ever captured");
  command->callback([options, &exit_code] {
    const auto decided = run(*options);
    if (!decided) complain(decided.error());
    exit_code = decided ? *decided : static_cast<int>(kExitInconclusive);
  });
}

}  // namespace capgate::cli
