// dsv4: the DeepSeek-V4 decode engine.
#include <CLI/CLI.hpp>

#include <iostream>
#include <sstream>
#include <string>

#include "base/exit_code.h"
#include "base/printable.h"
#include "engine/cli/commands.h"

namespace {

// Help goes out as it is. What is wrong repeats words of the command line, which must not steer the terminal.
int say(const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream wrong;
  const bool help = app.exit(error, std::cout, wrong) == 0;
  std::istringstream lines(wrong.str());
  for (std::string line; std::getline(lines, line);) std::cerr << capgate::printable(line) << '\n';
  return help ? capgate::kExitPass : capgate::kExitInconclusive;
}

}  // namespace

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
    return say(app, error);
  }
  return exit_code;
}
