// capgate rules: the catalogue.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "base/exit_code.h"
#include "cli/commands.h"
#include "reports/catalogue/catalogue_json.h"
#include "reports/terminal/terminal.h"

namespace capgate::cli {

void register_rules(CLI::App& app, int& exit_code) {
  auto json = std::make_shared<bool>(false);
  auto* command = app.add_subcommand("rules", "List the rules");
  command->add_flag("--json", *json, "The whole catalogue as JSON");
  command->callback([json, &exit_code] {
    reports::TerminalOptions view;
    view.color = use_color(STDOUT_FILENO);
    const std::string text = *json ? reports::catalogue_json() : reports::render_rule_list(view);
    std::fputs(text.c_str(), stdout);
    exit_code = kExitPass;
  });
}

}  // namespace capgate::cli
