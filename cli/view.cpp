// capgate view: a report as a page for a browser.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "base/exit_code.h"
#include "base/files/write_text.h"
#include "cli/commands.h"
#include "reports/baseline/read.h"
#include "reports/files/report_file.h"
#include "reports/settings/settings.h"
#include "reports/viewer/page.h"

namespace capgate::cli {
namespace {

struct ViewOptions {
  std::string report, baseline, out;
};

// The page's path, once it is written.
Result<std::string> run(const ViewOptions& options) {
  const std::string out = options.out.empty() ? reports::page_beside(options.report) : options.out;
  if (auto spared = reports::spares(out, {options.report, options.baseline}); !spared)
    return Error{spared.error()};
  if (auto allowed = reports::may_become_page(out); !allowed) return Error{"--out " + allowed.error()};
  const auto settings = reports::find_settings(".");
  if (!settings) return Error{settings.error()};
  reports::PageInput input;
  input.file = options.report == "-" ? "standard input" : options.report;
  input.frames = settings->frames;
  auto report = reports::read_report_alone(options.report);
  if (!report) return Error{report.error()};
  input.report = std::move(*report);
  if (!options.baseline.empty()) {
    auto baseline = reports::read_baseline(options.baseline);
    if (!baseline) return Error{baseline.error()};
    input.baseline_file = options.baseline;
    input.baseline = std::move(baseline->report);
  }
  if (auto written = write_text(reports::page_of(std::move(input)), out); !written)
    return Error{written.error()};
  return out;
}

}  // namespace

void register_view(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ViewOptions>();
  auto* command = app.add_subcommand("view", "Write a report as one page that a browser opens from disk");
  command->add_option("REPORT", options->report, "The report's file; - reads standard input")
      ->required()
      ->type_name("");
  command
      ->add_option("--baseline", options->baseline,
                   "An older report or a baseline file: the page shows what is new, fixed and still there")
      ->type_name("FILE");
  command
      ->add_option(
          "--out", options->out,
          "Where the page goes; default: the report's name with .html, in its folder. - is standard output")
      ->type_name("PAGE.html");
  command->callback([options, &exit_code] {
    const auto page = run(*options);
    if (!page)
      complain(page.error());
    else if (*page != "-")
      std::printf("%s\n", page->c_str());
    exit_code = page ? kExitPass : kExitInconclusive;
  });
}

}  // namespace capgate::cli
