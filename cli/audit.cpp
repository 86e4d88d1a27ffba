// capgate audit: runs a program under the detector, judges what it did and writes the report.
#include <fmt/format.h>

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/exit_code.h"
#include "base/printable.h"
#include "base/shell_line.h"
#include "cli/audit/cupti_hints.h"
#include "cli/audit/deaths/death_watch.h"
#include "cli/audit/environment.h"
#include "cli/audit/judge_run.h"
#include "cli/audit/options.h"
#include "cli/audit/preload_library.h"
#include "cli/audit/program_file.h"
#include "cli/audit/rank.h"
#include "cli/audit/run_program.h"
#include "cli/audit/trace_folder.h"
#include "cli/audit/why_no_trace.h"
#include "cli/commands.h"
#include "cli/options/audited_program.h"
#include "cli/registered_commands.h"
#include "reports/files/report_file.h"
#include "reports/model/names.h"
#include "reports/terminal/terminal.h"
#include "reports/verdict/verdict.h"

namespace capgate::cli {
namespace {

int refuse(const std::string& sentence) {
  complain(sentence);
  return kExitInconclusive;
}

std::vector<std::string> own_environment() {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) entries.emplace_back(*entry);
  return entries;
}

// A line that is gone once the work is done; only on a terminal, and only useful where the work takes a
// while.
class Progress {
 public:
  explicit Progress(const char* what) : shown_(isatty(STDERR_FILENO) == 1) {
    if (shown_) std::fprintf(stderr, "capgate: %s…", what);
  }
  ~Progress() {
    if (shown_) std::fputs("\r\033[K", stderr);
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  bool shown_;
};

// Where the report goes when it cannot go where it was asked for: into memory, or the folder of temporary
// files.
std::string write_elsewhere(const reports::Report& report) {
  std::error_code none;
  for (const std::filesystem::path& folder :
       {std::filesystem::path("/dev/shm"), std::filesystem::temp_directory_path(none)}) {
    const std::string file = (folder / fmt::format("capgate-report-{}.json", getpid())).string();
    if (!folder.empty() && reports::write_report(report, file)) return file;
  }
  return {};
}

int audit(const AuditOptions& options) {
  const auto program = find_program(options.program.front());
  if (!program) return refuse(program.error());
  const auto audited = is_rank(options.rank);
  if (!audited) return refuse(audited.error());
  if (!*audited) return refuse(become(program->path, options.program));
  if (!program->sanitizer.empty()) {
    return refuse(
        fmt::format("{} is built with {}, whose run-time library must be loaded before any other; audit a "
                    "build without it",
                    program->path, program->sanitizer));
  }
  auto plan = plan_audit(options);
  if (!plan) return refuse(plan.error());
  const std::vector<std::string> read{program->path, plan->settings.file, plan->settings.suppressions};
  if (const auto allowed = reports::check_output(options.out, read); !allowed) return refuse(allowed.error());
  const auto library = find_preload_library();
  if (!library) return refuse(library.error());
  auto folder = options.trace.empty() ? TraceFolder::temporary() : TraceFolder::kept(options.trace);
  if (!folder) return refuse(folder.error());
  const auto preloadable = preloadable_path(*library, folder->path());
  if (!preloadable) return refuse(preloadable.error());

  std::string watch_host;
  if (options.watch_host) {
    const auto found = find_preload_library(kWatchHostFile);
    if (!found) return refuse(found.error());
    const auto linked = preloadable_path(*found, folder->path());
    if (!linked) return refuse(linked.error());
    watch_host = *linked;
  }

  DetectorSettings settings;
  settings.library = *preloadable;
  settings.watch_host = watch_host;
  settings.trace_folder = folder->path();
  settings.region_globs = plan->expected.regions;
  settings.until = options.until;
  settings.region_functions = options.region_functions;
  if (!settings.region_functions.empty()) {
    const auto python = find_region_folder();
    if (!python) return refuse(python.error());
    settings.python_folder = *python;
  }
  settings.cupti_hints = cupti_hints(program->path);

  GpuWatch watch(folder->path(), getpid());
  auto deaths = std::make_unique<DeathWatch>(folder->path(), plan->settings);
  settings.deaths = deaths->file();
  const auto run =
      run_program(program->path, options.program, audited_environment(own_environment(), settings), watch);
  deaths.reset();
  if (*preloadable != *library) unlink(preloadable->c_str());
  if (watch_host.starts_with(folder->path() + "/")) unlink(watch_host.c_str());
  if (!run) return refuse(run.error());
  if (run->aborted) {
    complain("stopped by a second interruption; nothing was judged");
    return kExitInterrupted;
  }
  for (const pid_t pid : run->still_running) {
    complain(fmt::format("process {} still uses CUDA; what it does from now on is not judged", pid));
  }

  const std::string command = shell_line(command_line());
  auto input = seal_input(options, *program, *folder, watch, *run, std::move(plan->expected), command);
  input.tool_version = CAPGATE_VERSION;
  const SecondInterrupt interrupt(run->stopped_by_user, [&] { folder->remove(); });
  const auto judged = [&] {
    const Progress progress("reading the trace");
    return judge_run(*program, input, *run, command);
  }();
  if (!judged) {
    folder->keep();
    return refuse(fmt::format("{}; the trace is kept in {}", judged.error(), folder->path()));
  }
  if (!judged->not_kept.empty())
    complain(fmt::format("{}; the run is judged all the same, and its trace is not kept", judged->not_kept));
  const reports::Report& report = judged->report;
  const auto written = reports::write_report(report, options.out);
  reports::TerminalOptions view;
  view.color = use_color(STDERR_FILENO);
  view.width = reports::terminal_width(STDERR_FILENO);
  view.frames = plan->settings.frames;
  std::fputs(reports::render_terminal(report, view).c_str(), stderr);
  if (!written) {
    folder->keep();
    const std::string elsewhere = options.out == "-" ? "" : write_elsewhere(report);
    return refuse(fmt::format("{}{}; the trace is kept in {}", written.error(),
                              elsewhere.empty() ? "" : "; the report is in " + elsewhere, folder->path()));
  }
  if (options.out != "-") std::fprintf(stderr, "Report: %s\n", printable(options.out).c_str());
  if (!options.trace.empty()) {
    std::fprintf(stderr, "Trace: %s/%s\n", printable(folder->path()).c_str(), kSealedFile);
  }
  return reports::exit_code(report, *reports::named<reports::Severity>(options.fail_on), true);
}

// The settings in force as a settings file says them; a run of the program needs none of it.
int dump_config(const AuditOptions& options) {
  auto settings = settings_in_force(options);
  if (!settings) return refuse(settings.error());
  if (!settings->suppressions.empty())
    settings->suppressions = std::filesystem::absolute(settings->suppressions).lexically_normal().string();
  std::fputs(reports::dump_settings(*settings).c_str(), stdout);
  return kExitPass;
}

}  // namespace

void register_audit(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<AuditOptions>();
  CLI::App* command =
      app.add_subcommand("audit", "Run a program under the detector and report what hinders capture");
  set_usage(*command, "[OPTIONS] -- PROGRAM [ARGS...]");
  command
      ->add_option("--out", options->out,
                   "Where the report goes, - for standard output; default capgate-report.json")
      ->type_name("FILE")
      ->check(check_word, "");
  add_regions(*command, options->regions);
  add_region_functions(*command, options->region_functions);
  add_buckets(*command, options->buckets);
  command
      ->add_option("--until", options->until,
                   "Detach after captures=N, replays=N or seconds=S; default: at the end")
      ->type_name("WHEN")
      ->check(check_until, "");
  command
      ->add_option("--trace", options->trace,
                   "Keep the traces here, sealed as DIR/trace.cgtrace for capgate analyze")
      ->type_name("DIR")
      ->check(check_word, "");
  add_suppressions(*command, options->suppressions);
  add_rank(*command, options->rank);
  command->add_flag("--watch-host", options->watch_host,
                    "Also watch free() and munmap(), to see when host memory goes that a graph refers to");
  add_fail_on(*command, options->fail_on);
  command->add_flag("--dump-config", options->dump_config,
                    "Print the settings in force as a .capgate.toml, and exit");
  command->footer(
      "The program's own input, output and signals are untouched; the report's summary goes to stderr.");
  command->callback([options, &exit_code] {
    options->program = program_words();
    if (options->dump_config) {
      exit_code = dump_config(*options);
      return;
    }
    if (options->program.empty())
      throw CLI::ValidationError("no program to run is given: capgate audit [OPTIONS] -- PROGRAM [ARGS...]");
    exit_code = audit(*options);
  });
}

}  // namespace capgate::cli
