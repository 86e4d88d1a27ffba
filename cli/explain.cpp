// capgate explain: a rule's page.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "base/exit_code.h"
#include "cli/commands.h"
#include "reports/terminal/terminal.h"

namespace capgate::cli {

void register_explain(CLI::App& app, int& exit_code) {
  auto id = std::make_shared<std::string>();
  auto* command = app.add_subcommand("explain", "Tell what a rule means, why it bites and how to fix it");
  command->add_option("RULE", *id, "A rule's id, for example host-sync")->required()->type_name("");
  command->callback([id, &exit_code] {
    const reports::Rule* rule = reports::find_rule(*id);
    if (!rule) {
      complain(reports::unknown_rule(*id));
      exit_code = kExitInconclusive;
      return;
    }
    reports::TerminalOptions view;
    view.color = use_color(STDOUT_FILENO);
    view.width = reports::terminal_width(STDOUT_FILENO);
    std::fputs(reports::render_rule(*rule, view).c_str(), stdout);
    exit_code = kExitPass;
  });
}

}  // namespace capgate::cli
