// capgate show: a report for people.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "base/exit_code.h"
#include "cli/commands.h"
#include "reports/model/report_file.h"
#include "reports/settings/settings.h"
#include "reports/terminal/terminal.h"

namespace capgate::cli {

void register_show(CLI::App& app, int& exit_code) {
  struct Options {
    std::string report;
    bool all = false;
  };
  auto options = std::make_shared<Options>();
  auto* command =
      app.add_subcommand("show", "Show a report: verdict, worst fault, proof of work, then each fault");
  command->add_option("REPORT", options->report, "The report's file; - reads standard input")
      ->required()
      ->type_name("");
  command->add_flag("--all", options->all,
                    "Notes and suppressed faults in full, stacks unfolded, no list cut short");
  command->callback([options, &exit_code] {
    const auto read = reports::read_report_alone(options->report);
    const auto settings = reports::find_settings(".");
    if (!read || !settings) {
      complain(!read ? read.error() : settings.error());
      exit_code = kExitInconclusive;
      return;
    }
    reports::TerminalOptions view;
    view.color = use_color(STDOUT_FILENO);
    view.width = reports::terminal_width(STDOUT_FILENO);
    view.all = options->all;
    view.frames = settings->frames;
    reports::render_terminal(*read, view,
                             [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); });
    exit_code = kExitPass;
  });
}

}  // namespace capgate::cli
