// What a subcommand of capgate shares with main. A subcommand lives in cli/<name>.cpp and defines
// `void capgate::cli::register_<name>(CLI::App& app, int& exit_code)`: it adds itself to `app` and, when it
// is the one that runs, leaves its exit code (base/exit_code.h) in `exit_code`. The build finds such files by
// itself.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace capgate::cli {

// --color, which stands before or after the subcommand. `automatic` means: only on a terminal, and not under
// NO_COLOR.
enum class ColorMode { automatic, always, never };

// The --color that the user gave. Valid once a subcommand runs.
ColorMode color_mode();

// Whether text written to the file descriptor `fd` may carry colour.
bool use_color(int fd);

// Everything behind the first `--` that follows `audit` or `lint`, word for word: the program to run, or a
// compiler's options.
const std::vector<std::string>& program_words();

// The whole command line as it was typed.
const std::vector<std::string>& command_line();

// --fail-on of the commands that judge: "error" (what stands in `word`) or "warning".
void add_fail_on(CLI::App& command, std::string& word);

// The command's first line of help, where CLI11 knows less: "capgate audit [OPTIONS] -- PROGRAM [ARGS...]".
void set_usage(CLI::App& command, const std::string& words);

// Writes "capgate: <sentence>" and a newline to stderr, without what would steer a terminal.
void complain(const std::string& sentence);

}  // namespace capgate::cli
