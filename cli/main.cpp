// The capgate program: finds the subcommand, and turns wrong usage into one sentence and exit code 2.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/exit_code.h"
#include "base/printable.h"
#include "cli/commands.h"
#include "cli/registered_commands.h"  // generated: CAPGATE_COMMANDS, CAPGATE_VERSION

namespace capgate::cli {

#define CAPGATE_DECLARE_COMMAND(name) void register_##name(CLI::App& app, int& exit_code);
CAPGATE_COMMANDS(CAPGATE_DECLARE_COMMAND)
#undef CAPGATE_DECLARE_COMMAND

namespace {

struct CommandLine {
  std::vector<std::string> all;
  std::vector<std::string> program;
  ColorMode color = ColorMode::automatic;
};

CommandLine& line() {
  static CommandLine instance;
  return instance;
}

ColorMode parse_color(const std::string& word) {
  if (word == "always") return ColorMode::always;
  return word == "never" ? ColorMode::never : ColorMode::automatic;
}

// As CLI11 wants it: empty, or what is wrong.
std::string is_color(const std::string& word) {
  if (word == "auto" || word == "always" || word == "never") return "";
  return "is auto, always or never, not '" + word + "'";
}

// The exit codes that a command can give. No name: those of all.
std::string exit_codes(std::string_view command) {
  const bool all = command.empty();
  const bool audits = all || command == "audit";
  const bool judges =
      audits || command == "analyze" || command == "lint" || command == "gate" || command == "collect";
  std::string text = "Exit codes:\n";
  const auto line = [&text](ExitCode code, const char* meaning) {
    const std::string number = std::to_string(code);
    text += "  " + number + std::string(5 - number.size(), ' ') + meaning + "\n";
  };
  const char* well = judges ? "pass" : "done";
  line(kExitPass, all ? "pass, or done" : well);
  if (judges) line(kExitFail, "fail: an error (with --fail-on warning: or a warning)");
  if (command == "doctor")
    line(kExitFail, "something that an audit needs is missing, or the fault was not found");
  line(kExitInconclusive,
       judges ? "inconclusive; also wrong usage and bad input" : "wrong usage or bad input");
  if (audits) {
    line(kExitProgramError, all ? "audit: inconclusive only because the program itself ended with an error"
                                : "inconclusive only because the program itself ended with an error");
    line(kExitInterrupted, "a second Ctrl-C");
  }
  return text;
}

// Lines of at most `width` columns, broken at spaces.
std::string wrapped(const std::string& text, size_t width) {
  std::string out;
  size_t column = 0;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ' ');) {
    if (column > 0 && column + 1 + word.size() > width) {
      out += '\n';
      column = 0;
    } else if (column > 0) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out;
}

// CLI11 puts names into the first 30 columns and breaks lines only where a description does.
constexpr size_t kDescriptionWidth = 70;

void finish_help(CLI::App& app) {
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    for (CLI::Option* option : command->get_options()) {
      option->description(wrapped(option->get_description(), kDescriptionWidth));
      // A variable of a script that is not set must not turn `--out "$REPORT"` into no report.
      if (option->get_items_expected_max() > 0)
        option->check([](const std::string& word) { return word.empty() ? "is empty" : ""; }, "");
    }
    const std::string own = command->get_footer();
    command->footer((own.empty() ? "" : own + "\n\n") + exit_codes(command->get_name()));
  }
}

int run(int argc, char** argv) {
  line().all.assign(argv, argv + argc);

  CLI::App app{
      "Finds, in one run, what would stop a CUDA step from being captured into a graph or make its replay\n"
      "silently wrong, and names the line."};
  app.name("capgate");
  app.set_version_flag("--version", std::string("capgate ") + CAPGATE_VERSION, "Print the version and exit");
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.add_option_function<std::string>(
         "--color", [](const std::string& word) { line().color = parse_color(word); },
         "Colour: auto (only on a terminal, not under NO_COLOR), always or never")
      ->check(is_color, "")
      ->type_name("WHEN");
  app.require_subcommand(1);
  app.fallthrough();

  int exit_code = kExitPass;
#define CAPGATE_REGISTER_COMMAND(name) register_##name(app, exit_code);
  CAPGATE_COMMANDS(CAPGATE_REGISTER_COMMAND)
#undef CAPGATE_REGISTER_COMMAND
  app.footer(exit_codes("") + "\n`capgate COMMAND --help` prints a command's options.");
  finish_help(app);

  // What stands behind `audit … --` (a program) and `lint … --` (a compiler's options) is not ours to read,
  // and CLI11 would drop a `--` of its own.
  std::vector<std::string> ours;
  for (int i = 1; i < argc; ++i) {
    const bool passes_on = std::any_of(
        ours.begin(), ours.end(), [](const std::string& word) { return word == "audit" || word == "lint"; });
    if (passes_on && std::string_view(argv[i]) == "--") {
      line().program.assign(argv + i + 1, argv + argc);
      break;
    }
    ours.emplace_back(argv[i]);
  }
  std::vector<std::string> reversed(ours.rbegin(), ours.rend());  // the order that CLI11 wants

  try {
    app.parse(std::move(reversed));
  } catch (const CLI::Success& wish) {  // --help, --version
    return app.exit(wish);
  } catch (const CLI::ParseError& error) {
    if (argc == 1) {
      std::fputs(app.help().c_str(), stderr);
      return kExitInconclusive;
    }
    const auto chosen = app.get_subcommands();
    std::string sentence = error.what();
    std::string word;
    for (size_t i = 0; i < ours.size() && word.empty(); ++i) {
      const bool is_value = i > 0 && ours[i - 1] == "--color";
      if (!is_value && !ours[i].empty() && ours[i][0] != '-') word = ours[i];
    }
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError) && chosen.empty()) {
      sentence = word.empty() ? "which command?" : "there is no command '" + word + "'";
    }
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)) {
      const auto extras = app.remaining(true);
      const auto extra = std::find_if(extras.begin(), extras.end(),
                                      [](const std::string& w) { return w.empty() || w[0] != '-'; });
      const bool audits = !chosen.empty() && chosen.front()->get_name() == "audit";
      if (extra == extras.end()) {
        sentence = "there is no option " + extras.front();
      } else if (audits) {
        sentence = "write -- before the program: capgate audit [OPTIONS] -- " + *extra + " [ARGS...]";
      } else {
        sentence = "unexpected argument '" + *extra + "'";
      }
    }
    std::replace(sentence.begin(), sentence.end(), '\n', ' ');
    complain(sentence);
    std::fprintf(stderr, "Run `capgate %s--help` for the options.\n",
                 chosen.empty() ? "" : (chosen.front()->get_name() + " ").c_str());
    return kExitInconclusive;
  }
  return exit_code;
}

}  // namespace

ColorMode color_mode() {
  return line().color;
}

bool use_color(int fd) {
  switch (line().color) {
    case ColorMode::always:
      return true;
    case ColorMode::never:
      return false;
    case ColorMode::automatic:
      break;
  }
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  const char* term = std::getenv("TERM");
  if (term != nullptr && std::string_view(term) == "dumb") return false;
  return isatty(fd) == 1;
}

const std::vector<std::string>& program_words() {
  return line().program;
}

const std::vector<std::string>& command_line() {
  return line().all;
}

void add_fail_on(CLI::App& command, std::string& word) {
  command
      .add_option("--fail-on", word,
                  "Exit with 1 on a fault of this severity or worse: error (the default) or warning")
      ->type_name("SEVERITY")
      ->check(
          [](const std::string& given) {
            return given == "error" || given == "warning" ? "" : "is error or warning, not '" + given + "'";
          },
          "");
}

void set_usage(CLI::App& command, const std::string& words) {
  class Usage : public CLI::Formatter {
   public:
    explicit Usage(std::string words) : words_(std::move(words)) {}
    std::string make_usage(const CLI::App* app, std::string name) const override {
      (void)app;
      return "Usage: " + name + " " + words_ + "\n";
    }

   private:
    std::string words_;
  };
  command.formatter(std::make_shared<Usage>(words));
}

void complain(const std::string& sentence) {
  std::fprintf(stderr, "capgate: %s\n", printable(sentence).c_str());
}

namespace {

// Where one of the three is closed, the next file that is opened would take its number and get what is
// printed. Reading from a closed one, or writing results to it, is still an error; error messages are
// dropped, since they have nowhere else to go. An audited program still finds them closed.
void fill_standard_streams() {
  constexpr int kModes[] = {O_WRONLY, O_RDONLY, O_RDWR};
  for (int fd = 0; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", kModes[fd] | O_CLOEXEC) != fd) return;
  }
}

// What was printed must have arrived before the command may say that it is done.
int with_output_written(int exit_code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit_code;
  complain(std::string("standard output: cannot be written: ") + std::strerror(errno));
  return exit_code == kExitPass ? static_cast<int>(kExitInconclusive) : exit_code;
}

int guarded(int argc, char** argv) {
  fill_standard_streams();
  try {
    return with_output_written(run(argc, argv));
  } catch (const std::bad_alloc&) {
    complain("out of memory");
  } catch (const std::exception& unforeseen) {
    complain(std::string("internal error: ") + unforeseen.what());
  }
  return kExitInconclusive;
}

}  // namespace

}  // namespace capgate::cli

int main(int argc, char** argv) {
  return capgate::cli::guarded(argc, argv);
}
