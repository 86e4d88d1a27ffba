// capgate lint: what stops a capture, found in the sources.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/exit_code.h"
#include "base/files/read_text.h"
#include "base/printable.h"
#include "cli/commands.h"
#include "cli/progress_line.h"
#include "cli/registered_commands.h"  // generated: CAPGATE_VERSION
#include "reports/files/report_file.h"
#include "reports/verdict/verdict.h"
#include "static_checks/cache/cache.h"
#include "static_checks/driver/build_actions.h"
#include "static_checks/driver/lint.h"
#include "static_checks/driver/print.h"
#include "static_checks/sources/tables.h"

namespace capgate::cli {
namespace {

struct LintOptions {
  lint::LintSettings settings;
  std::vector<std::string> source_tables;
  std::string out;
  std::string fail_on = "error";
  std::string explain;  // FILE:LINE
  std::vector<std::string> assumptions;
  bool no_cache = false;
  bool link = false;
  bool verbose = false;
};

// In place of the report: what the analysis knows of one line or function. A file that was not parsed may be
// why that is nothing.
int print_explained(const lint::LintRun& run, const lint::LintOptions& asked) {
  const lint::Explained& explained = run.explained;
  const bool tree = !asked.dump_tree.empty();
  if (tree ? explained.found_tree() : explained.found_line()) {
    std::fputs((tree ? explained.trees(run.root) : explained.line(asked.explain, run.root)).c_str(), stdout);
    return kExitPass;
  }
  complain(
      tree ? "no function " + asked.dump_tree + " has a body in these sources"
           : "no function of these sources has that line in its body: check that the file is one of them and "
             "that the preprocessor keeps the line");
  if (run.report.coverage.files_failed.value_or(0) > 0 && !run.report.reasons.empty())
    complain(run.report.reasons.front().text);
  return kExitInconclusive;
}

int run(LintOptions& options) {
  lint::LintSettings& settings = options.settings;
  if (!options.explain.empty()) {
    const Result<lint::Place> line = lint::line_to_explain(options.explain);
    if (!line) {
      complain(line.error());
      return kExitInconclusive;
    }
    settings.options.explain = *line;
  }
  if (!options.out.empty()) {
    std::vector<std::string> read = settings.files;
    read.insert(read.end(), options.source_tables.begin(), options.source_tables.end());
    read.push_back(settings.suppressions);
    if (const Result<void> allowed = reports::check_output(options.out, read); !allowed) {
      complain(allowed.error());
      return kExitInconclusive;
    }
  }
  const Result<std::string> worker = lint::find_worker();
  if (!worker) {
    complain(worker.error());
    return kExitInconclusive;
  }
  settings.worker = *worker;
  settings.argv = command_line();
  bool separator = false;
  for (const std::string& word : settings.argv) separator = separator || word == "--";
  if (separator) settings.arguments = program_words();
  if (options.no_cache)
    settings.cache_dir.clear();
  else if (settings.cache_dir.empty())
    settings.cache_dir = lint::default_cache_folder();
  for (const std::string& text : options.assumptions) {
    Result<lint::Assumption> made = lint::read_assumption(text, "--assume");
    if (!made) {
      complain(made.error());
      return kExitInconclusive;
    }
    settings.assumptions.push_back(std::move(*made));
  }
  for (const std::string& file : options.source_tables) {
    Result<std::string> text = read_settings_text(file);
    if (!text) {
      complain(text.error());
      return kExitInconclusive;
    }
    if (const Result<void> added = lint::Tables().add(*text, file); !added) {
      complain(added.error());
      return kExitInconclusive;
    }
    settings.options.source_tables.push_back(std::move(*text));
  }
  ProgressLine progress;
  settings.progress = [&](size_t done, size_t all, const std::string& file) {
    progress.show(done, all, file);
  };
  if (options.verbose)
    settings.verbose = [&](const std::string& line) {
      progress.clear();
      std::fprintf(stderr, "%s\n", line.c_str());
    };

  if (!settings.summary_out.empty()) {
    const Result<void> written = lint::summarise_unit(settings);
    progress.clear();
    if (!written) complain(written.error());
    return written ? kExitPass : kExitInconclusive;
  }
  if (options.link && settings.files.empty()) {
    complain("--link is for summaries that are named: capgate lint --link FILES");
    return kExitInconclusive;
  }
  if (options.link) settings.summaries = std::exchange(settings.files, {});
  Result<lint::LintRun> result = lint::run_lint(settings);
  progress.clear();
  if (!result) {
    complain(result.error());
    return kExitInconclusive;
  }
  if (!options.explain.empty() || !settings.options.dump_tree.empty())
    return print_explained(*result, settings.options);
  reports::Report& report = result->report;
  report.tool.version = CAPGATE_VERSION;
  FILE* human = options.out == "-" ? stderr : stdout;
  std::fputs(lint::printed(report, use_color(fileno(human))).c_str(), human);
  if (options.verbose) {
    const lint::LintFigures& figures = result->figures;
    std::fprintf(
        stderr,
        "%zu units, %zu from the cache; parsing %.2f s, analysis %.2f s, rest %.2f s; largest %llu MiB\n",
        figures.units, figures.cached, figures.parse_s, figures.analysis_s, figures.other_s,
        static_cast<unsigned long long>(figures.peak_kib / 1024));
    std::fprintf(stderr, "calls in what regions reach: %llu, not analysed %llu, of other projects %llu\n",
                 static_cast<unsigned long long>(figures.calls),
                 static_cast<unsigned long long>(figures.calls_not_analysed),
                 static_cast<unsigned long long>(figures.foreign_calls));
  }
  if (!options.out.empty())
    if (Result<void> written = reports::write_report(report, options.out); !written) {
      complain(written.error());
      return kExitInconclusive;
    }
  return reports::exit_code(
      report, options.fail_on == "warning" ? reports::Severity::warning : reports::Severity::error);
}

}  // namespace

void register_lint(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "lint", "Check sources: host decisions on device values, and what a capture cannot hold");
  set_usage(*command, "[OPTIONS] [FILES...] [-- COMPILER OPTIONS]");
  auto options = std::make_shared<LintOptions>();
  lint::LintSettings& settings = options->settings;
  command
      ->add_option("FILES", settings.files,
                   "Sources, headers (through the sources that include them) or folders; default: every "
                   "source of the compile database")
      ->type_name("");
  command
      ->add_option(
          "-p,--build", settings.build,
          "Folder with compile_commands.json, or the file; default: the folder of the first file or one "
          "above, then ./build. COMPILER OPTIONS behind -- take the place of a database")
      ->type_name("BUILD");
  command->add_option("-j,--jobs", settings.jobs, "Sources parsed at a time; default: one per core")
      ->type_name("N");
  command
      ->add_option(
          "--changed-since", settings.changed_since,
          "Report only what bears on lines that differ between git revision REF and the working tree: a "
          "finding on such a line, with a step of its path on one, or in a function that holds one. Every "
          "source is still analysed, since a region in one reaches functions in another (unchanged ones "
          "come from the cache), and a source that cannot be parsed still makes the run inconclusive")
      ->type_name("REF");
  command->add_flag(
      "--whole-file", settings.options.whole_file,
      "Report device values that reach host decisions outside captured regions too, as warnings");
  command
      ->add_option("--region", settings.options.regions,
                   "NVTX ranges with a matching name are regions; its first literal counts")
      ->type_name("GLOB")
      ->allow_extra_args(false);
  command
      ->add_option("--out", options->out,
                   "Where the report goes as JSON, - for standard output (then the text goes to stderr)")
      ->type_name("FILE");
  add_fail_on(*command, options->fail_on);
  command
      ->add_option("--suppressions", settings.suppressions,
                   "File of faults to keep out of the verdict, one per line: rule:frame-glob  reason")
      ->type_name("FILE");
  command
      ->add_option(
          "--assume", options->assumptions,
          "A host value that the sources leave open, as cfg.debug=0 or getenv(DEBUG_SYNC)=unset: what "
          "only another value leads to is a note")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command
      ->add_option(
          "--require-region", settings.required,
          "Inconclusive unless this many regions are found, or one that begins in a function of that "
          "name (a glob)")
      ->type_name("N|NAME")
      ->allow_extra_args(false);
  command
      ->add_option(
          "--unproven", settings.unproven,
          "A function that a region reaches and that was not analysed makes the run inconclusive (error), "
          "or is only named in the report (warn)")
      ->type_name("error|warn")
      ->check(CLI::IsMember({"error", "warn"}));
  command
      ->add_option(
          "--sources", options->source_tables,
          "JSON table of functions that bring device values to the host, in addition to the built-in ones")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command
      ->add_option("--cuda-path", settings.cuda_path,
                   "CUDA toolkit; default: that of the command's nvcc, CUDA_PATH, CUDA_HOME, nvcc in PATH, "
                   "/usr/local/cuda")
      ->type_name("DIR");
  command->add_option("--root", settings.root, "Judge code below it; default: each file's git repository")
      ->type_name("DIR");
  command->add_option("--resource-dir", settings.resource_dir, "clang 19's own headers (lib/clang/19)")
      ->type_name("DIR");
  command
      ->add_option("--cache-dir", settings.cache_dir,
                   "Where results are kept; default: XDG cache, capgate/lint")
      ->type_name("DIR");
  command->add_flag("--no-cache", options->no_cache, "Neither read nor keep results");
  command
      ->add_option("--timeout", settings.timeout_s, "Seconds per source; a slower one counts as not parsed")
      ->type_name("SECONDS")
      ->capture_default_str()
      ->check(
          [](const std::string& word) {
            return CLI::PositiveNumber(word).empty() ? ""
                                                     : "is a number of seconds above 0, not '" + word + "'";
          },
          "");
  command
      ->add_option(
          "--explain", options->explain,
          "In place of a report: the calls on a line, from which region and through which calls it is "
          "reached, which device value decides there, or why it was not analysed")
      ->type_name("FILE:LINE")
      ->excludes("--out");
  command
      ->add_option("--dump-tree", settings.options.dump_tree,
                   "In place of a report: a function as the analysis reads it, one node per line")
      ->type_name("FUNCTION")
      ->excludes("--out")
      ->excludes("--explain");
  command
      ->add_option("--summary-out", settings.summary_out,
                   "In place of a report: what --link needs to know of the one source, and in FILE.d what it "
                   "was made from, for make and ninja")
      ->type_name("FILE")
      ->excludes("--out")
      ->excludes("--explain")
      ->excludes("--dump-tree")
      ->excludes("--changed-since");
  command
      ->add_flag("--link", options->link,
                 "FILES are what --summary-out wrote, or @LIST with one name a line: a report on the program")
      ->excludes("--summary-out")
      ->excludes("--build");
  command->add_flag("-v,--verbose", options->verbose,
                    "Print which compiler options are ignored, and where time goes");
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace capgate::cli
