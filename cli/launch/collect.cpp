// capgate collect: one report of what the ranks and machines of a run left in a folder.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "base/exit_code.h"
#include "base/printable.h"
#include "cli/audit/options.h"
#include "cli/commands.h"
#include "cli/launch/gathered.h"
#include "cli/launch/ranks.h"
#include "cli/options/audited_program.h"
#include "cli/registered_commands.h"
#include "reports/files/report_file.h"
#include "reports/model/names.h"
#include "reports/terminal/terminal.h"
#include "reports/verdict/verdict.h"

namespace capgate::cli {
namespace {

struct CollectOptions {
  std::string folder;
  AuditOptions audit;  // --out, --expect-bucket, --suppressions, --fail-on
};

// A line for each error, with the ranks that have it.
std::string rank_lines(const reports::Report& report) {
  std::string text;
  for (const auto& violation : report.violations) {
    if (violation.severity != reports::Severity::error || violation.suppressed) continue;
    const std::string ranks = ranks_of(violation, report.coverage.processes);
    if (ranks.empty()) return "";
    text += fmt::format("  {:<16} {} {}:{}\n", ranks, printable(violation.rule),
                        printable(violation.location.file), violation.location.line);
  }
  return text.empty() ? "" : "on " + text.substr(2);
}

Result<reports::Report> collected(const CollectOptions& options) {
  auto plan = plan_audit(options.audit);
  if (!plan) return Error{plan.error()};
  auto inputs = gather(options.folder, plan->expected, CAPGATE_VERSION);
  if (!inputs) return Error{inputs.error()};
  if (inputs->size() == 1) return std::move(inputs->front().report);
  return reports::merge(std::move(*inputs), CAPGATE_VERSION);
}

Result<int> run(const CollectOptions& options) {
  if (const auto allowed = reports::check_output(options.audit.out, {}); !allowed)
    return Error{allowed.error()};
  const auto report = collected(options);
  if (!report) return Error{report.error()};
  if (const auto written = reports::write_report(*report, options.audit.out); !written)
    return Error{written.error()};
  reports::TerminalOptions view;
  view.color = use_color(STDERR_FILENO);
  view.width = reports::terminal_width(STDERR_FILENO);
  std::fputs(reports::render_terminal(*report, view).c_str(), stderr);
  std::fputs(rank_lines(*report).c_str(), stderr);
  if (options.audit.out != "-") std::fprintf(stderr, "Report: %s\n", printable(options.audit.out).c_str());
  return reports::exit_code(*report, *reports::named<reports::Severity>(options.audit.fail_on), false);
}

}  // namespace

void register_collect(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<CollectOptions>();
  auto* command =
      app.add_subcommand("collect", "Judge what the ranks and machines of a run left in a folder");
  command->add_option("DIR", options->folder, "The folder that `capgate env` was given")
      ->required()
      ->type_name("");
  command
      ->add_option("--out", options->audit.out,
                   "The report; - writes it to standard output; default: capgate-report.json")
      ->type_name("FILE")
      ->check(check_word, "");
  add_buckets(*command, options->audit.buckets);
  add_suppressions(*command, options->audit.suppressions);
  add_fail_on(*command, options->audit.fail_on);
  command->callback([options, &exit_code] {
    const auto done = run(*options);
    if (!done) complain(done.error());
    exit_code = done ? *done : static_cast<int>(kExitInconclusive);
  });
}

}  // namespace capgate::cli
