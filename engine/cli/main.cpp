// dsv4: the DeepSeek-V4 decode engine.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <sstream>
#include <string>

#include "base/exit_code.h"
#include "base/printable.h"
#include "engine/cli/arguments/commands.h"

namespace {

// Help goes out as it is. What is wrong repeats words of the command line, which must not steer the terminal.
int say(const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream wrong;
  const bool help = app.exit(error, std::cout, wrong) == 0;
  std::istringstream lines(wrong.str());
  for (std::string line; std::getline(lines, line);) std::cerr << capgate::printable(line) << '\n';
  return help ? capgate::kExitPass : capgate::kExitInconclusive;
}

// Where one of the three is closed, the next file that is opened would take its number and get what is
// printed. Printing to a closed one still fails; only complaints have no better place.
void fill_standard_streams() {
  constexpr int kModes[] = {O_WRONLY, O_RDONLY, O_RDWR};
  for (int fd = 0; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", kModes[fd] | O_CLOEXEC) != fd) return;
  }
}

// What was printed must have arrived before a command may say that it is done.
int with_output_written(int exit_code) {
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit_code;
  std::cerr << "dsv4: standard output: cannot be written: " << std::strerror(errno) << '\n';
  return exit_code == capgate::kExitPass ? static_cast<int>(capgate::kExitInconclusive) : exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  fill_standard_streams();
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
    return with_output_written(say(app, error));
  }
  return with_output_written(exit_code);
}
