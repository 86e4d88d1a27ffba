// capgate export: a report in the formats that CI systems read.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include "base/exit_code.h"
#include "base/files/write_text.h"
#include "cli/commands.h"
#include "reports/baseline/compare.h"
#include "reports/baseline/read.h"
#include "reports/files/report_file.h"
#include "reports/formats/formats.h"

namespace capgate::cli {
namespace {

struct ExportOptions {
  std::string report, format, baseline;
  std::string out = "-";
};

// What a GitHub job shows on its own page: GitHub names the file, and other steps write to it too.
Result<void> add_to_job_summary(const reports::Report& report) {
  const char* path = std::getenv("GITHUB_STEP_SUMMARY");
  if (!path || !*path) return {};
  std::ofstream summary(path, std::ios::app | std::ios::binary);
  summary << reports::to_markdown(report);
  if (!summary.flush()) return Error{std::string(path) + ": cannot be written; GITHUB_STEP_SUMMARY names it"};
  return {};
}

// An option that lost its value (`--out a.cu`), or a wrong name, must not cost a file of another kind.
Result<void> may_become_export(const std::string& path) {
  std::error_code ec;
  if (path == "-" || !std::filesystem::is_regular_file(path, ec) || std::filesystem::file_size(path, ec) == 0)
    return {};
  std::string begin(size_t{1} << 16, '\0');
  std::ifstream there(path, std::ios::binary);
  there.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<size_t>(there.gcount()));
  if (reports::begins_like_export(begin)) return {};
  return Error{"--out " + path + ": is not an export of capgate; refusing to overwrite it"};
}

Result<void> run(const ExportOptions& options) {
  std::vector<std::string> inputs{options.report};
  auto report = reports::read_report_alone(options.report);
  if (!report) return Error{report.error()};
  if (!options.baseline.empty()) {
    inputs.push_back(options.baseline);
    const auto baseline = reports::read_baseline(options.baseline);
    if (!baseline) return Error{baseline.error()};
    reports::compare_with_baseline(*report, baseline->report, options.baseline);
  }
  if (auto spared = reports::spares(options.out, inputs); !spared) return spared;
  if (auto allowed = may_become_export(options.out); !allowed) return allowed;
  const auto format = std::find_if(reports::kFormats.begin(), reports::kFormats.end(),
                                   [&](const reports::Format& one) { return one.name == options.format; });
  if (auto written = write_text(format->write(*report), options.out); !written) return written;
  return format->name == "github" ? add_to_job_summary(*report) : Result<void>();
}

// What is wrong with the word that names a format; empty for nothing.
std::string unknown_format(const std::string& word) {
  if (word.empty()) return "is empty";
  std::string names;
  for (const auto& format : reports::kFormats) {
    if (format.name == word) return "";
    names += (names.empty() ? "" : ", ") + std::string(format.name);
  }
  return "is none of " + names + ": '" + word + "'";
}

}  // namespace

void register_export(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ExportOptions>();
  auto* command = app.add_subcommand("export", "Write a report in a format that a CI system reads");
  command->add_option("REPORT", options->report, "The report's file; - reads standard input")
      ->required()
      ->type_name("");
  command->add_option("--format", options->format, "sarif, junit, gitlab, github, markdown or gcc")
      ->required()
      ->check(unknown_format, "")
      ->type_name("NAME");
  command
      ->add_option("--baseline", options->baseline, "An older report or a baseline file: marks what is new")
      ->type_name("FILE");
  command
      ->add_option("--out", options->out,
                   "Where the output goes; default -, standard output. No input is overwritten")
      ->type_name("FILE");
  command->callback([options, &exit_code] {
    const auto done = run(*options);
    if (!done) complain(done.error());
    exit_code = done ? kExitPass : kExitInconclusive;
  });
}

}  // namespace capgate::cli
