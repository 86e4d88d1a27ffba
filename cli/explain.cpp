// capgate explain: the page of a rule or a situation, or what to call in place of an API.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "base/exit_code.h"
#include "cli/commands.h"
#include "reports/terminal/terminal.h"

namespace capgate::cli {
namespace {

// Empty when nothing has that name.
std::string page_of(std::string_view id, const reports::TerminalOptions& view) {
  if (const auto* rule = reports::find_rule(id)) return reports::render_rule(*rule, view);
  if (const auto* situation = reports::find_situation(id)) return reports::render_situation(*situation, view);
  if (const auto* row = reports::replacement(id)) return reports::render_replacement(*row, view);
  return "";
}

}  // namespace

void register_explain(CLI::App& app, int& exit_code) {
  auto id = std::make_shared<std::string>();
  auto* command = app.add_subcommand("explain", "Print what a rule means, why it matters and how to fix it");
  command
      ->add_option(
          "RULE", *id,
          "A rule (host-sync), a situation that a report names (host-sync.torch-item), or a CUDA call "
          "that captures refuse (cudaMalloc)")
      ->required()
      ->type_name("");
  command->callback([id, &exit_code] {
    reports::TerminalOptions view;
    view.color = use_color(STDOUT_FILENO);
    view.width = reports::terminal_width(STDOUT_FILENO);
    const std::string page = page_of(*id, view);
    if (page.empty()) {
      complain(reports::unknown_name(*id));
      exit_code = kExitInconclusive;
      return;
    }
    std::fputs(page.c_str(), stdout);
    exit_code = kExitPass;
  });
}

}  // namespace capgate::cli
