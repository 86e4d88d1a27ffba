// dsv4: the DeepSeek-V4 decode engine.
#include <CLI/CLI.hpp>

#include "base/exit_code.h"
#include "engine/cli/commands.h"

int main(int argc, char** argv) {
  CLI::App app("dsv4 decodes with DeepSeek-V4 models.");
  app.require_subcommand(1);
  int exit_code = capgate::kExitPass;
  dsv4::cli::add_generate(app, exit_code);
  dsv4::cli::add_info(app, exit_code);
  dsv4::cli::add_verify(app, exit_code);
  dsv4::cli::add_compare(app, exit_code);
  dsv4::cli::add_random_checkpoint(app, exit_code);
  dsv4::cli::add_tokenize(app, exit_code);
#ifdef DSV4_CUDA
  dsv4::cli::add_trial(app, exit_code);
  dsv4::cli::add_bench(app, exit_code);
#endif
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? capgate::kExitPass : capgate::kExitInconclusive;
  }
  return exit_code;
}
