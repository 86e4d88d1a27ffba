// capgate show: a report for people.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "base/exit_code.h"
#include "cli/commands.h"
#include "reports/baseline/compare.h"
#include "reports/baseline/read.h"
#include "reports/catalogue/catalogue.h"
#include "reports/files/report_file.h"
#include "reports/model/names.h"
#include "reports/settings/settings.h"
#include "reports/terminal/terminal.h"

namespace capgate::cli {
namespace {

struct ShowOptions {
  std::string report, baseline, severity;
  std::vector<std::string> rules, files;
  bool all = false;
};

Result<void> run(const ShowOptions& options) {
  auto report = reports::read_report_alone(options.report);
  if (!report) return Error{report.error()};
  const auto settings = reports::find_settings(".");
  if (!settings) return Error{settings.error()};
  if (!options.baseline.empty()) {
    const auto baseline = reports::read_baseline(options.baseline);
    if (!baseline) return Error{baseline.error()};
    reports::compare_with_baseline(*report, baseline->report, options.baseline);
  }
  reports::TerminalOptions view;
  view.color = use_color(STDOUT_FILENO);
  view.width = reports::terminal_width(STDOUT_FILENO);
  view.all = options.all;
  view.frames = settings->frames;
  view.report_name = options.report;
  view.baseline_name = options.baseline;
  view.selection = {options.rules, options.files, reports::named<reports::Severity>(options.severity)};
  reports::render_terminal(*report, view,
                           [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); });
  return {};
}

void add_selection(CLI::App& command, ShowOptions& options) {
  command.add_option("--rule", options.rules, "List only faults of this rule; repeatable")
      ->type_name("RULE")
      ->expected(1)
      ->take_all()
      ->check(
          [](const std::string& word) {
            return word.empty() || reports::find_rule(word) ? "" : reports::unknown_rule(word);
          },
          "");
  command
      .add_option("--file", options.files,
                  "List only faults in these files: a glob such as 'model/*.py'; repeatable")
      ->type_name("GLOB")
      ->expected(1)
      ->take_all();
  command
      .add_option("--severity", options.severity,
                  "List only faults of this severity or worse: error, warning or note")
      ->type_name("SEVERITY")
      ->check(
          [](const std::string& word) {
            return word.empty() || reports::named<reports::Severity>(word)
                       ? ""
                       : "is error, warning or note, not '" + word + "'";
          },
          "");
}

}  // namespace

void register_show(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ShowOptions>();
  auto* command = app.add_subcommand(
      "show", "Show a report: what to repair first and how, on one screen, then each fault");
  command->add_option("REPORT", options->report, "The report's file; - reads standard input")
      ->required()
      ->type_name("");
  command->add_flag("--all", options->all,
                    "Notes and suppressed faults in full, stacks unfolded, no list cut short");
  add_selection(*command, *options);
  command
      ->add_option("--baseline", options->baseline,
                   "An older report or a baseline file: marks the findings that are new since then")
      ->type_name("FILE");
  command->callback([options, &exit_code] {
    const auto done = run(*options);
    if (!done) complain(done.error());
    exit_code = done ? kExitPass : kExitInconclusive;
  });
}

}  // namespace capgate::cli
