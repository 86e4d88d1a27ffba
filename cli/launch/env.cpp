// capgate env: what to set where nobody can put `capgate audit --` before the program.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/exit_code.h"
#include "cli/audit/cupti_hints.h"
#include "cli/audit/environment.h"
#include "cli/audit/options.h"
#include "cli/audit/preload_library.h"
#include "cli/audit/program_file.h"
#include "cli/commands.h"
#include "cli/launch/env_forms.h"
#include "cli/options/audited_program.h"

namespace capgate::cli {
namespace {

namespace fs = std::filesystem;

struct EnvOptions {
  std::string folder;
  std::string form = "sh";
  AuditOptions audit;
};

// Each machine has a folder of its own: processes of two machines may have the same number.
Result<std::string> folder_of_this_machine(const std::string& folder) {
  char host[256] = "localhost";
  gethostname(host, sizeof host - 1);
  std::error_code error;
  const fs::path own = fs::absolute(fs::path(folder) / host, error).lexically_normal();
  if (!error) fs::create_directories(own, error);
  if (error) return Error{fmt::format("cannot make the folder {}: {}", own.string(), error.message())};
  return own.string();
}

Result<std::string> run(const EnvOptions& options) {
  const auto settings = settings_in_force(options.audit);
  if (!settings) return Error{settings.error()};
  const auto library = find_preload_library();
  if (!library) return Error{library.error()};
  const auto folder = folder_of_this_machine(options.folder);
  if (!folder) return Error{folder.error()};
  const auto preloadable = preloadable_path(*library, *folder);
  if (!preloadable) return Error{preloadable.error()};

  DetectorSettings detector;
  detector.library = *preloadable;
  detector.trace_folder = *folder;
  detector.region_globs = settings->regions;
  detector.until = options.audit.until;
  const auto python = find_program("python3");
  detector.cupti_hints = cupti_hints(python ? python->path : "/usr/bin/python3");

  std::vector<std::string> inherited;
  for (char** entry = environ; *entry != nullptr; ++entry) inherited.emplace_back(*entry);
  Variables variables;
  for (const std::string& entry : audited_environment(inherited, detector)) {
    if (std::find(inherited.begin(), inherited.end(), entry) != inherited.end()) continue;
    const size_t equals = entry.find('=');
    variables.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return in_form(options.form, variables, {*folder, fs::path(*preloadable).parent_path().string()});
}

}  // namespace

void register_env(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<EnvOptions>();
  auto* command =
      app.add_subcommand("env", "Print what to set where nobody can put capgate audit before the program");
  command
      ->add_option("DIR", options->folder,
                   "Where the traces go, in a folder for each machine; capgate collect DIR judges them")
      ->required()
      ->type_name("")
      ->check(check_word, "");
  command->add_option("--for", options->form, std::string("The form: ") + kForms + "; default: sh")
      ->type_name("WHOM")
      ->check(check_form, "");
  add_regions(*command, options->audit.regions);
  command->add_option("--until", options->audit.until, "Detach after captures=N, replays=N or seconds=S")
      ->type_name("WHEN")
      ->check(check_until, "");
  command->callback([options, &exit_code] {
    const auto text = run(*options);
    if (text)
      std::fputs(text->c_str(), stdout);
    else
      complain(text.error());
    exit_code = text ? kExitPass : kExitInconclusive;
  });
}

}  // namespace capgate::cli
