// capgate show: a report for people.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "base/exit_code.h"
#include "cli/commands.h"
#include "reports/model/baseline.h"
#include "reports/model/report_file.h"
#include "reports/settings/settings.h"
#include "reports/terminal/terminal.h"

namespace capgate::cli {

void register_show(CLI::App& app, int& exit_code) {
  struct Options {
    std::string report, baseline;
    bool all = false;
  };
  auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand(
      "show", "Show a report: what to repair first and how, on one screen, then each fault");
  command->add_option("REPORT", options->report, "The report's file; - reads standard input")
      ->required()
      ->type_name("");
  command->add_flag("--all", options->all,
                    "Notes and suppressed faults in full, stacks unfolded, no list cut short");
  command
      ->add_option("--baseline", options->baseline, "An older report: says which faults are new since then")
      ->type_name("FILE");
  command->callback([options, &exit_code] {
    auto read = reports::read_report_alone(options->report);
    const auto settings = reports::find_settings(".");
    if (!read || !settings) {
      complain(!read ? read.error() : settings.error());
      exit_code = kExitInconclusive;
      return;
    }
    if (!options->baseline.empty()) {
      const auto baseline = reports::read_report_alone(options->baseline);
      if (!baseline) {
        complain(baseline.error());
        exit_code = kExitInconclusive;
        return;
      }
      reports::compare_with_baseline(*read, *baseline);
    }
    reports::TerminalOptions view;
    view.color = use_color(STDOUT_FILENO);
    view.width = reports::terminal_width(STDOUT_FILENO);
    view.all = options->all;
    view.frames = settings->frames;
    view.report_name = options->report;
    view.baseline_name = options->baseline;
    reports::render_terminal(*read, view,
                             [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); });
    exit_code = kExitPass;
  });
}

}  // namespace capgate::cli
